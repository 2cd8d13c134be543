#include "ops/run_op.hpp"
#include "tensor/half.hpp"

namespace saccade {
namespace {

const Tensor kTable = Tensor::of<float>({2, 2}, {1, 2, 3, 4});

OpCall einsum(const std::string& equation, std::vector<Tensor> inputs) {
  return {.op = "Einsum", .inputs = std::move(inputs), .attributes = {{"equation", equation}}};
}

TEST(Einsum, MultipliesMatrices) {
  const Tensor other = Tensor::of<float>({2, 2}, {1, 0, 10, 1});
  expect_tensor<float>(einsum("ij, jk -> ik", {kTable, other}).one(), {2, 2}, {21, 2, 43, 4});
  expect_tensor<float>(einsum("ij,jk", {kTable, other}).one(), {2, 2}, {21, 2, 43, 4});
}

TEST(Einsum, TakesDiagonalsAndSums) {
  expect_tensor<float>(einsum("ii->i", {kTable}).one(), {2}, {1, 4});
  expect_tensor<float>(einsum("ii", {kTable}).one(), {}, {5});
  expect_tensor<float>(einsum("ij->j", {kTable}).one(), {2}, {4, 6});
  expect_tensor<float>(einsum("ji", {kTable}).one(), {2, 2}, {1, 3, 2, 4});
}

TEST(Einsum, FoldsManyOperands) {
  const Tensor vector = Tensor::of<float>({2}, {1, 10});
  expect_tensor<float>(einsum("i,ij,j->", {vector, kTable, vector}).one(), {}, {1 + 20 + 30 + 400});
}

TEST(Einsum, BroadcastsEllipses) {
  const Tensor batch = Tensor::of<float>({2, 1, 2}, {1, 2, 3, 4});
  const Tensor columns = Tensor::of<float>({1, 2, 1}, {1, 10});
  expect_tensor<float>(einsum("...ij,...jk->...ik", {batch, columns}).one(), {2, 1, 1}, {21, 43});
  expect_tensor<float>(einsum("...i->...", {batch}).one(), {2, 1}, {3, 7});
}

TEST(Einsum, TakesEveryNumber) {
  const Tensor small = Tensor::of<std::int8_t>({2}, {100, 2});
  expect_tensor<std::int8_t>(einsum("i,i->i", {small, small}).one(), {2}, {16, 4});  // 10000 wraps to 16
  const Tensor pair = Tensor::of<BFloat16>({2}, {BFloat16(1.5F), BFloat16(2.0F)});
  expect_tensor<BFloat16>(einsum("i->", {pair}).one(), {}, {BFloat16(3.5F)});
}

TEST(Einsum, OfNothingIsZero) {
  const OpCall call = einsum("ij,jk->ik", {Tensor(DType::kFloat32, {1, 0}), Tensor(DType::kFloat32, {0, 1})});
  expect_tensor<float>(call.one(), {1, 1}, {0});
}

TEST(Einsum, SaysWhatIsWrong) {
  const auto why = [](const std::string& equation) { return einsum(equation, {kTable}).error().second; };
  EXPECT_NE(why("i->i").find("does not fit an operand"), std::string::npos);
  EXPECT_NE(why("ij,jk->ik").find("2 terms for 1 inputs"), std::string::npos);
  EXPECT_NE(why("ij->ijk").find("'k', which no operand has"), std::string::npos);
  EXPECT_NE(why("ij->ii").find("twice"), std::string::npos);
  EXPECT_NE(why("i%j->i").find("can't read"), std::string::npos);
  EXPECT_NE(why(".ij->i").find("can't read"), std::string::npos);
  EXPECT_NE(einsum("ij,jk->ik", {kTable, Tensor::of<float>({3, 1}, {1, 2, 3})}).error().second.find("2 long and 3"),
            std::string::npos);
}

}  // namespace
}  // namespace saccade
