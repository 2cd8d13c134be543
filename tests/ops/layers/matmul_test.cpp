#include <limits>

#include "ops/run_op.hpp"
#include "tensor/half.hpp"

namespace saccade {
namespace {

const Tensor kLeft = Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
const Tensor kRight = Tensor::of<float>({3, 2}, {1, 0, 0, 1, 10, 100});

TEST(MatMul, Multiplies) {
  expect_tensor<float>(OpCall{.op = "MatMul", .inputs = {kLeft, kRight}}.one(), {2, 2}, {31, 302, 64, 605});
}

TEST(MatMul, AddsABias) {
  const OpCall call{.op = "MatMul", .inputs = {kLeft, kRight, Tensor::of<float>({2}, {1000, 2000})}};
  expect_tensor<float>(call.one(), {2, 2}, {1031, 2302, 1064, 2605});
}

TEST(MatMul, DropsTheDimensionOfAVector) {
  const Tensor three = Tensor::of<float>({3}, {1, 10, 100});
  const Tensor two = Tensor::of<float>({2}, {1, 10});
  expect_tensor<float>(OpCall{.op = "MatMul", .inputs = {kLeft, three}}.one(), {2}, {321, 654});
  expect_tensor<float>(OpCall{.op = "MatMul", .inputs = {two, kLeft}}.one(), {3}, {41, 52, 63});
  expect_tensor<float>(OpCall{.op = "MatMul", .inputs = {three, three}}.one(), {}, {10101});
}

TEST(MatMul, BroadcastsBatches) {
  const Tensor left = Tensor::of<float>({2, 1, 1, 1}, {1, 2});
  const Tensor right = Tensor::of<float>({3, 1, 1}, {10, 20, 30});
  expect_tensor<float>(OpCall{.op = "MatMul", .inputs = {left, right}}.one(), {2, 3, 1, 1}, {10, 20, 30, 20, 40, 60});
}

TEST(MatMul, WrapsIntegersAround) {
  const Tensor large = Tensor::of<std::int32_t>({1, 2}, {1 << 30, 5});
  const Tensor four = Tensor::of<std::int32_t>({2, 1}, {4, 1});
  expect_tensor<std::int32_t>(OpCall{.op = "MatMul", .inputs = {large, four}}.one(), {1, 1}, {5});
}

TEST(MatMul, OfNothingIsZero) {
  const OpCall call{.op = "MatMul", .inputs = {Tensor(DType::kFloat32, {2, 0}), Tensor(DType::kFloat32, {0, 1})}};
  expect_tensor<float>(call.one(), {2, 1}, {0, 0});
}

TEST(MatMul, ReportsMismatches) {
  const auto why = [](const Tensor& left, const Tensor& right) {
    return OpCall{.op = "MatMul", .inputs = {left, right}}.error();
  };
  EXPECT_EQ(why(kLeft, kLeft), (std::pair<ErrorCode, std::string>{
                                   ErrorCode::kInvalidFile, "node 'node' (MatMul): MatMul can't multiply 2x3 by 2x3"}));
  EXPECT_EQ(why(kLeft, Tensor::scalar(1.0F)).first, ErrorCode::kInvalidFile);
  EXPECT_EQ(why(kLeft, Tensor::of<double>({3}, {1, 2, 3})).first, ErrorCode::kInvalidFile);
}

TEST(Gemm, TransposesScalesAndBroadcasts) {
  const OpCall call{
      .op = "Gemm",
      .inputs = {kRight, kLeft, Tensor::of<float>({2, 1}, {100, 1000})},
      .attributes = {{"transA", std::int64_t{1}}, {"transB", std::int64_t{1}}, {"alpha", 2.0F}, {"beta", 0.5F}}};
  expect_tensor<float>(call.one(), {2, 2}, {62 + 50, 128 + 50, 604 + 500, 1210 + 500});
}

TEST(Gemm, TakesIntegers) {
  const Tensor left = Tensor::of<std::int32_t>({2, 2}, {1, 2, 3, -4});
  const Tensor right = Tensor::of<std::int32_t>({2, 1}, {5, 6});
  const Tensor bias = Tensor::of<std::int32_t>({1}, {100});
  expect_tensor<std::int32_t>(OpCall{.op = "Gemm", .inputs = {left, right, bias}}.one(), {2, 1}, {117, 91});
  // 0.5 * (17, -9) + 0.25 * 100
  const OpCall scaled{.op = "Gemm", .inputs = {left, right, bias}, .attributes = {{"alpha", 0.5F}, {"beta", 0.25F}}};
  expect_tensor<std::int32_t>(scaled.one(), {2, 1}, {33, 20});
  const Tensor most = Tensor::scalar(std::numeric_limits<std::uint64_t>::max());
  const Tensor two = Tensor::of<std::uint64_t>({1, 1}, {2});
  expect_tensor<std::uint64_t>(OpCall{.op = "Gemm", .inputs = {two, two, most}}.one(), {1, 1}, {3});
}

TEST(Gemm, ReportsMismatches) {
  EXPECT_EQ((OpCall{.op = "Gemm", .inputs = {kLeft, kLeft}}.error().first), ErrorCode::kInvalidFile);
  const OpCall bias{.op = "Gemm", .inputs = {kLeft, kRight, Tensor::of<float>({3}, {1, 2, 3})}};
  EXPECT_EQ(bias.error().first, ErrorCode::kInvalidFile);
}

TEST(MatMul, AccumulatesHalfPrecisionInFloat) {
  // 256 + 1 + 1 rounds to 258, which accumulation in bfloat16 would miss.
  const Tensor ones = Tensor::of<BFloat16>({3, 1}, {BFloat16(1.0F), BFloat16(1.0F), BFloat16(1.0F)});
  const Tensor row = Tensor::of<BFloat16>({1, 3}, {BFloat16(256.0F), BFloat16(1.0F), BFloat16(1.0F)});
  expect_tensor<BFloat16>(OpCall{.op = "MatMul", .inputs = {row, ones}}.one(), {1, 1}, {BFloat16(258.0F)});
  expect_tensor<BFloat16>(OpCall{.op = "Gemm", .inputs = {row, ones}}.one(), {1, 1}, {BFloat16(258.0F)});
}

}  // namespace
}  // namespace saccade
