#include "ops/op_values.hpp"

namespace saccade {
namespace {

Tensor ramp(const Shape& shape) {
  Tensor tensor(DType::kFloat32, shape);
  std::iota(tensor.data<float>().begin(), tensor.data<float>().end(), 1.0F);
  return tensor;
}

Tensor filled(const Shape& shape, float value) {
  Tensor tensor(DType::kFloat32, shape);
  std::ranges::fill(tensor.data<float>(), value);
  return tensor;
}

const Tensor kTwo = filled({1, 1, 1, 1}, 2);
// Half a row down, no column to the right.
const Tensor kDown = Tensor::of<float>({1, 2, 2, 2}, {0.5F, 0.5F, 0.5F, 0.5F, 0, 0, 0, 0});

TEST(DeformConv, ReadsBetweenElements) {
  expect_tensor<float>(run("DeformConv", {ramp({1, 1, 2, 2}), kTwo, kDown}), {1, 1, 2, 2}, {4, 6, 3, 4});
}

TEST(DeformConv, WeighsByItsMaskAndAddsItsBias) {
  const Tensor mask = Tensor::of<float>({1, 1, 2, 2}, {0.5F, 1, 2, 0});
  const Tensor output = run("DeformConv", {ramp({1, 1, 2, 2}), kTwo, kDown, filled({1}, 10), mask});
  expect_tensor<float>(output, {1, 1, 2, 2}, {12, 16, 16, 10});
}

TEST(DeformConv, MovesGroupsOfChannelsApart) {
  // The first channel is read one to the right, where the last element's neighbour is outside; the second is not
  // displaced.
  const Tensor weights = Tensor::of<float>({1, 2, 1, 1}, {1, 10});
  const Tensor offsets = Tensor::of<float>({1, 4, 1, 2}, {0, 0, 1, 1, 0, 0, 0, 0});
  const Named two = {{"offset_group", std::int64_t{2}}};
  expect_tensor<float>(run("DeformConv", {ramp({1, 2, 1, 2}), weights, offsets}, two), {1, 1, 1, 2}, {32, 40});
}

TEST(DeformConv, IsAConvolutionWhereNothingMoves) {
  const Tensor input = ramp({2, 4, 5, 6});
  const Tensor weights = ramp({6, 2, 3, 2});
  const Named attributes = {
      {"group", std::int64_t{2}}, {"strides", Ints{2, 1}}, {"pads", Ints{1, 0, 2, 1}}, {"dilations", Ints{1, 2}}};
  const Tensor wanted = run("Conv", {input, weights}, attributes);
  const Shape& shape = wanted.shape();
  const Tensor offsets = filled({2, 12, shape[2], shape[3]}, 0);
  const std::vector<float> values(wanted.data<float>().begin(), wanted.data<float>().end());
  expect_tensor<float>(run("DeformConv", {input, weights, offsets}, attributes), shape, values);
}

TEST(DeformConv, FarAwayIsNothing) {
  const Tensor far = Tensor::of<float>({1, 2, 1, 2}, {1e30F, std::nanf(""), 0, 0});
  expect_tensor<float>(run("DeformConv", {ramp({1, 1, 1, 2}), kTwo, far}), {1, 1, 1, 2}, {0, 0});
}

TEST(DeformConv, RefusesWhatDoesNotFit) {
  const Tensor input = ramp({1, 1, 2, 2});
  EXPECT_EQ(error_of("DeformConv", {input, kTwo, filled({1, 1, 2, 2}, 0)}), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("DeformConv", {input, kTwo, kDown}, {{"offset_group", std::int64_t{2}}}), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("DeformConv", {ramp({1, 1, 2}), filled({1, 1, 1}, 1), kDown}), ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace saccade
