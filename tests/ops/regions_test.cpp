#include "ops/op_values.hpp"

// Operators on boxes: RoiAlign, MaxRoiPool and NonMaxSuppression.
namespace saccade {
namespace {

/// 4x4: row y, column x holds 4 y + x.
Tensor ramp() {
  Tensor map(DType::kFloat32, {1, 1, 4, 4});
  std::iota(map.data<float>().begin(), map.data<float>().end(), 0.0F);
  return map;
}

OpCall roi_align(std::vector<float> box, Named attributes) {
  attributes.emplace_back("output_height", std::int64_t{1});
  attributes.emplace_back("output_width", std::int64_t{1});
  return {.op = "RoiAlign",
          .inputs = {ramp(), Tensor::of<float>({1, 4}, std::span<const float>(box)), indices({0})},
          .attributes = std::move(attributes)};
}

TEST(RoiAlign, InterpolatesAtTheMiddleOfABin) {
  const Named once = {{"sampling_ratio", std::int64_t{1}}};
  // Centre (1.5, 1.5) of the image is element (1, 1).
  expect_tensor<float>(roi_align({1, 1, 2, 2}, once).one(), {1, 1, 1, 1}, {5});
  // Without the half-pixel offset it lies between four elements: 5, 6, 9 and 10.
  Named old = once;
  old.emplace_back("coordinate_transformation_mode", std::string("output_half_pixel"));
  expect_tensor<float>(roi_align({1, 1, 2, 2}, old).one(), {1, 1, 1, 1}, {7.5F});
}

TEST(RoiAlign, TakesTheMaximumInModeMax) {
  const Named largest = {{"sampling_ratio", std::int64_t{1}}, {"mode", std::string("max")}};
  expect_tensor<float>(roi_align({1, 1, 2, 2}, largest).one(), {1, 1, 1, 1}, {5});
}

TEST(RoiAlign, ARegionOutsideOrWithoutSizeIsZero) {
  expect_tensor<float>(roi_align({90, 90, 99, 99}, {}).one(), {1, 1, 1, 1}, {0});
  const float nan = std::nanf("");
  expect_tensor<float>(roi_align({nan, nan, nan, nan}, {}).one(), {1, 1, 1, 1}, {0});
}

TEST(RoiAlign, RefusesAnImageThatIsNotThere) {
  OpCall call = roi_align({1, 1, 2, 2}, {});
  call.inputs[2] = indices({1});
  EXPECT_EQ(call.error().first, ErrorCode::kInvalidArgument);
}

TEST(MaxRoiPool, FindsTheLargestOfEachBin) {
  // Columns 0 to 3 and rows 0 to 1, inclusive.
  const Tensor region = Tensor::of<float>({1, 5}, {0, 0, 0, 3, 1});
  expect_tensor<float>(run("MaxRoiPool", {ramp(), region}, {{"pooled_shape", Ints{1, 2}}}), {1, 1, 1, 2}, {5, 7});
}

TEST(MaxRoiPool, ScalesRegionsAndClipsThem) {
  const Tensor region = Tensor::of<float>({1, 5}, {0, 4, 4, 90, 90});
  const Named half = {{"pooled_shape", Ints{1, 1}}, {"spatial_scale", 0.5F}};
  expect_tensor<float>(run("MaxRoiPool", {ramp(), region}, half), {1, 1, 1, 1}, {15});
}

// Boxes 0 and 1 overlap by 9 / 11, box 2 is disjoint.
const Tensor kBoxes = Tensor::of<float>({1, 3, 4}, {0, 0, 1, 1, 0, 0.1F, 1, 1.1F, 0, 5, 1, 6});
const Tensor kScores = Tensor::of<float>({1, 1, 3}, {0.8F, 0.9F, 0.7F});

OpCall suppression(std::int64_t most, float iou, float score) {
  return {.op = "NonMaxSuppression",
          .inputs = {kBoxes, kScores, indices({most}), Tensor::of<float>({1}, {iou}), Tensor::of<float>({1}, {score})}};
}

TEST(NonMaxSuppression, DropsWhatABetterBoxCovers) {
  expect_tensor<std::int64_t>(suppression(3, 0.5F, 0).one(), {2, 3}, {0, 0, 1, 0, 0, 2});
  expect_tensor<std::int64_t>(suppression(3, 0.9F, 0).one(), {3, 3}, {0, 0, 1, 0, 0, 0, 0, 0, 2});
}

TEST(NonMaxSuppression, KeepsAtMostTheLimitAndNoneBelowTheScore) {
  expect_tensor<std::int64_t>(suppression(1, 0.5F, 0).one(), {1, 3}, {0, 0, 1});
  expect_tensor<std::int64_t>(suppression(3, 0.5F, 0.75F).one(), {1, 3}, {0, 0, 1});
  expect_tensor<std::int64_t>(suppression(0, 0.5F, 0).one(), {0, 3}, {});
}

TEST(NonMaxSuppression, IsRefusedWhereTheBoxesComeFromTheRun) {
  OpCall call = suppression(3, 0.5F, 0);
  call.constant = false;
  const auto [code, message] = call.error();
  EXPECT_EQ(code, ErrorCode::kUnsupported);
  EXPECT_NE(message.find("depends on the data"), std::string::npos) << message;
}

TEST(NonMaxSuppression, IsRefusedWhereItWouldRunForHours) {
  constexpr std::int64_t kMany = 200'000;
  OpCall call = suppression(3, 0.5F, 0);
  call.inputs[0] = Tensor(DType::kFloat32, {1, kMany, 4});
  call.inputs[1] = Tensor(DType::kFloat32, {1, 1, kMany});
  EXPECT_EQ(call.error().first, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace saccade
