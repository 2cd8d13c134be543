#include <limits>

#include "run_op.hpp"
#include "support/specials.hpp"

namespace saccade {
namespace {

const Tensor kTwoRows = Tensor::of<float>({2, 3}, {1, 2, 3, -4, 5, 6});

Tensor reduce(const std::string& op, const Tensor& input, std::initializer_list<std::int64_t> axes,
              std::vector<std::pair<std::string, Attribute>> attributes = {}) {
  const Tensor list = Tensor::of<std::int64_t>({static_cast<std::int64_t>(axes.size())}, axes);
  return OpCall{.op = op, .inputs = {input, list}, .attributes = std::move(attributes)}.one();
}

TEST(Reduce, FoldsAnAxis) {
  expect_tensor<float>(reduce("ReduceSum", kTwoRows, {1}), {2, 1}, {6, 7});
  expect_tensor<float>(reduce("ReduceSum", kTwoRows, {-2}), {1, 3}, {-3, 7, 9});
  expect_tensor<float>(reduce("ReduceMean", kTwoRows, {0}), {1, 3}, {-1.5F, 3.5F, 4.5F});
  expect_tensor<float>(reduce("ReduceMax", kTwoRows, {0}), {1, 3}, {1, 5, 6});
  expect_tensor<float>(reduce("ReduceMin", kTwoRows, {0}), {1, 3}, {-4, 2, 3});
  expect_tensor<float>(reduce("ReduceProd", kTwoRows, {1}), {2, 1}, {6, -120});
  expect_tensor<float>(reduce("ReduceL1", kTwoRows, {1}), {2, 1}, {6, 15});
  expect_tensor<float>(reduce("ReduceSumSquare", kTwoRows, {1}), {2, 1}, {14, 77});
  expect_tensor<float>(reduce("ReduceL2", Tensor::of<float>({2}, {3, 4}), {0}), {1}, {5});
  expect_tensor<float>(reduce("ReduceLogSum", kTwoRows, {1}), {2, 1}, {1.7917595F, 1.9459101F}, 1e-6);
}

TEST(Reduce, DropsReducedDimensions) {
  expect_tensor<float>(reduce("ReduceSum", kTwoRows, {0, 1}, {{"keepdims", std::int64_t{0}}}), {}, {13});
}

TEST(Reduce, WithoutAxesFoldsEverythingOrNothing) {
  expect_tensor<float>(OpCall{.op = "ReduceSum", .inputs = {kTwoRows}}.one(), {1, 1}, {13});
  expect_tensor<float>(reduce("ReduceSum", kTwoRows, {}, {{"noop_with_empty_axes", std::int64_t{1}}}), {2, 3},
                       {1, 2, 3, -4, 5, 6});
}

TEST(Reduce, FoldsAxesThatAreApart) {
  const Tensor cube = Tensor::of<float>({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  expect_tensor<float>(reduce("ReduceSum", cube, {0, 2}), {1, 2, 1}, {14, 22});
}

TEST(Reduce, LogSumExpStaysFinite) {
  const Tensor high = Tensor::of<float>({2}, {1000, 1000});
  expect_tensor<float>(reduce("ReduceLogSumExp", high, {0}), {1}, {1000.6931F}, 1e-3);
  const Tensor low = Tensor::of<float>({2}, {-kInfinity, 0});
  expect_tensor<float>(reduce("ReduceLogSumExp", low, {0}), {1}, {0});
}

TEST(Reduce, KeepsIntegersWhole) {
  const Tensor large = Tensor::of<std::int64_t>({2}, {(std::int64_t{1} << 60) + 1, 1});
  expect_tensor<std::int64_t>(reduce("ReduceSum", large, {0}), {1}, {(std::int64_t{1} << 60) + 2});
  expect_tensor<std::int32_t>(reduce("ReduceMean", Tensor::of<std::int32_t>({2}, {-4, -3}), {0}), {1}, {-3});
  expect_tensor<std::int32_t>(reduce("ReduceL1", Tensor::of<std::int32_t>({2}, {-4, 3}), {0}), {1}, {7});
}

TEST(Reduce, OfNothingIsTheNeutralElement) {
  const Tensor nothing(DType::kFloat32, {0, 2});
  expect_tensor<float>(reduce("ReduceSum", nothing, {0}), {1, 2}, {0, 0});
  expect_tensor<float>(reduce("ReduceProd", nothing, {0}), {1, 2}, {1, 1});
  expect_tensor<float>(reduce("ReduceMax", nothing, {0}), {1, 2}, {-kInfinity, -kInfinity});
}

TEST(Reduce, TheGreatestOfBoolsIsAny) {
  Tensor input = Tensor::of<bool>({2, 2}, {true, false, false, false});
  input.raw()[0] = std::byte{4};  // true as well
  expect_tensor<bool>(reduce("ReduceMax", input, {1}), {2, 1}, {true, false});
  expect_tensor<bool>(reduce("ReduceMin", input, {0}), {1, 2}, {false, false});
  const Tensor nothing(DType::kBool, {0});
  expect_tensor<bool>(reduce("ReduceMax", nothing, {0}), {1}, {false});
  expect_tensor<bool>(reduce("ReduceMin", nothing, {0}), {1}, {true});
  const OpCall sum{.op = "ReduceSum", .inputs = {input}};
  EXPECT_EQ(sum.error().first, ErrorCode::kUnsupported);
}

TEST(Reduce, RefusesAWrongAxis) {
  const OpCall call{.op = "ReduceSum", .inputs = {kTwoRows, Tensor::of<std::int64_t>({1}, {2})}};
  EXPECT_EQ(call.error().first, ErrorCode::kInvalidFile);
}

TEST(ArgMax, TakesTheFirstOrTheLastOfEquals) {
  const Tensor input = Tensor::of<float>({2, 3}, {1, 5, 5, 7, 2, 7});
  OpCall call{.op = "ArgMax", .inputs = {input}, .attributes = {{"axis", std::int64_t{-1}}}};
  expect_tensor<std::int64_t>(call.one(), {2, 1}, {1, 0});
  call.attributes.emplace_back("select_last_index", std::int64_t{1});
  call.attributes.emplace_back("keepdims", std::int64_t{0});
  expect_tensor<std::int64_t>(call.one(), {2}, {2, 2});
}

TEST(ArgMin, LooksAlongColumns) {
  const OpCall call{.op = "ArgMin", .inputs = {Tensor::of<float>({2, 2}, {1, 5, 0, 9})}};
  expect_tensor<std::int64_t>(call.one(), {1, 2}, {1, 0});
}

TEST(ArgMax, TakesTheFirstNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor input = Tensor::of<float>({4}, {1, nan, 9, nan});
  for (const char* op : {"ArgMax", "ArgMin"}) {
    expect_tensor<std::int64_t>(OpCall{.op = op, .inputs = {input}}.one(), {1}, {1});
    const OpCall last{.op = op, .inputs = {input}, .attributes = {{"select_last_index", std::int64_t{1}}}};
    expect_tensor<std::int64_t>(last.one(), {1}, {3});
  }
}

TEST(ArgMax, HasNothingToChooseFrom) {
  const OpCall call{.op = "ArgMax", .inputs = {Tensor(DType::kFloat32, {0, 2})}};
  EXPECT_EQ(call.error().first, ErrorCode::kInvalidFile);
}

}  // namespace
}  // namespace saccade
