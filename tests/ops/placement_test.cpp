#include "ops/op_values.hpp"

// Operators that place elements by a window or a size: Col2Im, MaxUnpool, CenterCropPad, AffineGrid.
namespace saccade {
namespace {

TEST(Col2Im, AddsUpWhereBlocksOverlap) {
  // Blocks of 2 over an image of 3: (1, 3) and (2, 4).
  const Tensor columns = Tensor::of<float>({1, 2, 2}, {1, 2, 3, 4});
  expect_tensor<float>(run("Col2Im", {columns, indices({3}), indices({2})}), {1, 1, 3}, {1, 3 + 2, 4});
}

TEST(Col2Im, LeavesOutThePadding) {
  const Tensor columns = Tensor::of<std::int8_t>({1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  const Tensor image = run("Col2Im", {columns, indices({3}), indices({2})}, {{"pads", Ints{1, 1}}});
  expect_tensor<std::int8_t>(image, {1, 1, 3}, {5 + 2, 6 + 3, 7 + 4});
}

TEST(Col2Im, RefusesColumnsThatDoNotFit) {
  const Tensor columns = Tensor::of<float>({1, 2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(error_of("Col2Im", {columns, indices({4}), indices({2})}), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("Col2Im", {columns, indices({3}), indices({0})}), ErrorCode::kInvalidFile);
}

const Tensor kKept = Tensor::of<float>({1, 1, 2, 2}, {1, 2, 3, 4});
const Tensor kPlaces = Tensor::of<std::int64_t>({1, 1, 2, 2}, {5, 7, 13, 15});
const Named kUnpool = {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}};

TEST(MaxUnpool, PutsElementsBack) {
  expect_tensor<float>(run("MaxUnpool", {kKept, kPlaces}, kUnpool), {1, 1, 4, 4},
                       {0, 0, 0, 0, 0, 1, 0, 2, 0, 0, 0, 0, 0, 3, 0, 4});
}

TEST(MaxUnpool, FillsTheCornerOfALargerOutput) {
  const Tensor output = run("MaxUnpool", {kKept, kPlaces, indices({1, 1, 4, 5})}, kUnpool);
  expect_tensor<float>(output, {1, 1, 4, 5}, {0, 0, 0, 0, 0, 0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3, 0, 4, 0});
  EXPECT_EQ(error_of("MaxUnpool", {kKept, kPlaces, indices({1, 1, 3, 5})}, kUnpool), ErrorCode::kInvalidFile);
}

TEST(MaxUnpool, RefusesAPlaceOutside) {
  const Tensor places = Tensor::of<std::int64_t>({1, 1, 2, 2}, {5, 7, 13, 16});
  EXPECT_EQ(error_of("MaxUnpool", {kKept, places}, kUnpool), ErrorCode::kInvalidArgument);
}

TEST(CenterCropPad, CropsOneAxisAndPadsAnother) {
  const Tensor x = counting({2, 3});
  expect_tensor<std::int32_t>(run("CenterCropPad", {x, indices({3, 1})}), {3, 1}, {1, 4, 0});
}

TEST(CenterCropPad, LeavesOtherAxesAlone) {
  const Tensor x = counting({2, 2});
  expect_tensor<std::int32_t>(run("CenterCropPad", {x, indices({4})}, {{"axes", Ints{-1}}}), {2, 4},
                              {0, 0, 1, 0, 0, 2, 3, 0});
  EXPECT_EQ(error_of("CenterCropPad", {x, indices({4})}), ErrorCode::kInvalidFile);
}

const Tensor kIdentity = Tensor::of<float>({1, 2, 3}, {1, 0, 0, 0, 1, 0});

TEST(AffineGrid, TheIdentityGivesTheCentresOfElements) {
  const Tensor size = indices({1, 1, 1, 2});
  expect_tensor<float>(run("AffineGrid", {kIdentity, size}), {1, 1, 2, 2}, {-0.5F, 0, 0.5F, 0});
  expect_tensor<float>(run("AffineGrid", {kIdentity, size}, {{"align_corners", std::int64_t{1}}}), {1, 1, 2, 2},
                       {-1, 0, 1, 0});
}

TEST(AffineGrid, TurnsAndMovesInThreeDimensions) {
  // x = z + 1, y = x, z = y + 2
  const Tensor theta = Tensor::of<float>({1, 3, 4}, {0, 0, 1, 1, 1, 0, 0, 0, 0, 1, 0, 2});
  expect_tensor<float>(run("AffineGrid", {theta, indices({1, 1, 2, 1, 1})}), {1, 2, 1, 1, 3}, {0.5F, 0, 2, 1.5F, 0, 2});
  EXPECT_EQ(error_of("AffineGrid", {theta, indices({1, 1, 2, 1})}), ErrorCode::kInvalidFile);
}

}  // namespace
}  // namespace saccade
