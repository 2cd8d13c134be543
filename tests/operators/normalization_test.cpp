#include <limits>
#include <random>

#include "op_case/every_backend.hpp"
#include "op_case/normalizations.hpp"

namespace saccade {
namespace {

constexpr Tactics kGroupNorm{.cpu = "vector.group_norm", .cuda = "lines.group_normalization"};
constexpr Tactics kSoftmax{.cpu = "vector.softmax", .cuda = "lines.softmax"};
constexpr Tactics kLayerNorm{.cpu = "vector.layer_norm", .cuda = "lines.layer_normalization"};
constexpr Tolerances kRows{.cpu = {.absolute = 2e-6, .relative = 1e-5}, .cuda = {.absolute = 2e-5, .relative = 2e-5}};
constexpr Tolerances kClose{.cpu = {.absolute = 4e-6, .relative = 1e-5}, .cuda = {.absolute = 5e-5, .relative = 5e-5}};

/// Close to 1000, 0.01 apart: float32 has steps of 0.00006 there.
Tensor far_from_zero(const Shape& shape) {
  Tensor tensor(DType::kFloat32, shape);
  std::mt19937 generator(7);
  std::normal_distribution<float> normal(1000, 0.01F);
  for (float& element : tensor.data<float>()) element = normal(generator);
  return tensor;
}

constexpr Tolerance kLines{.absolute = 2e-5, .relative = 2e-5};
constexpr Tolerance kNormalizedHalf{.absolute = 4e-3, .relative = 4e-3};

OpCase softmax(const Shape& shape, std::int64_t axis) {
  OpCase made("Softmax");
  made.input(shape, -4, 4).attribute("axis", axis);
  return made;
}

SACCADE_EVERY_BACKEND(Softmax);
SACCADE_EVERY_BACKEND(LayerNormalization);
SACCADE_EVERY_BACKEND(InstanceNormalization);
SACCADE_EVERY_BACKEND(GroupNormalization);
SACCADE_EVERY_BACKEND(BatchNormalization);

TEST_P(Softmax, AlongEveryAxisOfBothLayouts) {
  for (const char* op : {"Softmax", "LogSoftmax"})
    for (std::int64_t axis = -4; axis < 4; ++axis)
      OpCase(op).input({2, 21, 5, 19}, -9, 9).attribute("axis", axis).check_layouts(by(kSoftmax), within(kRows));
}

TEST_P(Softmax, OfShortRows) {
  for (const char* op : {"Softmax", "LogSoftmax"})
    for (const std::int64_t count : {2, 6, 15, 16})
      OpCase(op).input({3, 67, count}, -9, 9).check(by(kSoftmax), within(kRows));
}

TEST_P(Softmax, OfLargeNumbers) {
  OpCase("Softmax").input(Tensor::of<float>({1, 4}, {1000, 999, -1000, 1000})).check(by(kSoftmax), within(kRows));
}

TEST_P(Softmax, OfNothingAndOfOne) {
  OpCase("Softmax").input({0, 5}).check(by(kSoftmax));
  OpCase("Softmax").input({5, 1}).check(by(kSoftmax));
}

TEST_P(LayerNormalization, NormalisesTheLastAxes) {
  OpCase("LayerNormalization")
      .input({3, 7, 50})
      .constant({50}, -1, 1)
      .constant({50}, -1, 1)
      .check(by(kLayerNorm), within(kRows));
  OpCase("LayerNormalization")
      .input({3, 4, 5}, 50, 60)
      .constant({4, 5}, -1, 1)
      .attribute("axis", std::int64_t{1})
      .check(by(kLayerNorm), {.absolute = 2e-5, .relative = 1e-5});
}

TEST_P(LayerNormalization, DividesByTheRootOfTheMeanOfSquaresOfTheLastAxes) {
  for (const Shape& scale : {Shape{50}, Shape{1, 1, 50}})
    OpCase("RMSNormalization").input({3, 7, 50}).constant(scale, -1, 1).check(by(kLayerNorm), within(kRows));
  OpCase("RMSNormalization")
      .input({3, 4, 5}, 50, 60)
      .constant({4, 5}, -1, 1)
      .attribute("axis", std::int64_t{1})
      .attribute("epsilon", 0.5F)
      .check(by(kLayerNorm), within(kRows));
}

TEST_P(InstanceNormalization, OfEveryRankInBothLayouts) {
  for (const Shape& shape : {Shape{2, 5, 33}, Shape{2, 37, 9, 13}, Shape{3, 17, 3, 5, 7}})
    instance_norm(shape).check_layouts(by(kGroupNorm), within(kClose));
}

TEST_P(InstanceNormalization, OfAsManyChannelsAsVectorsHoldAndMoreAndFewer) {
  for (const std::int64_t channels : {1, 3, 8, 15, 16, 64, 65, 96, 131})
    instance_norm({1, channels, 12, 11}).check_layouts(by(kGroupNorm), within(kClose));
}

TEST_P(InstanceNormalization, OfPlanesOfOneElementIsTheBias) {
  instance_norm({2, 19, 1, 1}).check_layouts(by(kGroupNorm), within(kClose));
  instance_norm({2, 19}).check(by(kGroupNorm), within(kClose));
}

TEST_P(InstanceNormalization, OfNothing) {
  instance_norm({0, 4, 5}).check_layouts(by(kGroupNorm));
  instance_norm({2, 4, 0, 3}).check_layouts(by(kGroupNorm));
}

TEST_P(InstanceNormalization, TakesItsEpsilon) {
  instance_norm({1, 8, 6, 6}, -1e-3F, 1e-3F).attribute("epsilon", 0.5F).check_layouts(by(kGroupNorm), within(kClose));
}

TEST_P(GroupNormalization, OfGroupsOfEverySize) {
  for (const std::int64_t groups : {1, 2, 3, 6, 9, 18, 54})
    group_norm({2, 54, 7, 9}, groups).check_layouts(by(kGroupNorm), within(kClose));
}

TEST_P(GroupNormalization, OfEveryRankInBothLayouts) {
  group_norm({3, 40}, 8).check(by(kGroupNorm), within(kClose));
  for (const Shape& shape : {Shape{2, 40, 33}, Shape{1, 40, 64, 65}, Shape{2, 40, 3, 5, 7}})
    group_norm(shape, 8).check_layouts(by(kGroupNorm), within(kClose));
}

TEST_P(GroupNormalization, TakesOneScaleAndBiasAGroup) {
  OpCase("GroupNormalization")
      .input({2, 24, 5, 7})
      .constant({4}, -1, 1)
      .constant({4}, -1, 1)
      .attribute("num_groups", std::int64_t{4})
      .check_layouts(by(kGroupNorm), within(kClose));
}

TEST_P(GroupNormalization, IsExactWhereTheMeanIsLargeBesideTheDeviation) {
  for (const Shape& shape : {Shape{1, 32, 40, 41}, Shape{2, 6, 150, 151}, Shape{1, 48, 3, 3}})
    for (const std::int64_t groups : {std::int64_t{2}, shape[1]})
      OpCase("GroupNormalization")
          .input(far_from_zero(shape))
          .constant(random_tensor({shape[1]}, 0.5F, 1, 1))
          .constant(random_tensor({shape[1]}, -1, 1, 2))
          .attribute("num_groups", groups)
          .check_layouts(by(kGroupNorm), {.absolute = 1e-5, .relative = 1e-5});
}

TEST_P(GroupNormalization, IsExactWhereTheFirstElementsAreUnlikeTheRest) {
  // The shift is taken of the first eighth: here of zeros, and the rest is near 1000.
  Tensor tensor = far_from_zero({1, 16, 40, 41});
  for (std::int64_t channel = 0; channel < 16; ++channel)
    std::fill_n(tensor.data<float>().data() + channel * 40 * 41, 40 * 41 / 4, 0.0F);
  OpCase("GroupNormalization")
      .input(tensor)
      .constant(random_tensor({16}, 0.5F, 1, 1))
      .constant(random_tensor({16}, -1, 1, 2))
      .attribute("num_groups", std::int64_t{4})
      .check_layouts(by(kGroupNorm), {.absolute = 1e-5, .relative = 1e-5});
}

TEST_P(GroupNormalization, RunsItsPostOps) {
  group_norm({1, 24, 40, 41}, 4).post("Relu").check_layouts(by(kGroupNorm), within(kClose));
  group_norm({1, 24, 40, 41}, 4).post("LeakyRelu", 0.1F).post("Silu").check_layouts(by(kGroupNorm), within(kClose));
  group_norm({1, 24, 5, 7}, 4).post("Relu").post_with_operand("Add").check_layouts(by(kGroupNorm), within(kClose));
}

TEST_P(Softmax, RunsAlongTheLastAxis) {
  softmax({3, 5}, -1).check(by("", "lines.softmax"), kLines);
  softmax({7, 197}, -1).check(by("", "lines.softmax"), kLines);
  softmax({2, 1500}, -1).check(by("", "lines.softmax"), kLines);
  softmax({2, 20000}, 1).check(by("", "lines.softmax"), kLines);
  softmax({4, 1}, 1).check(by("", "lines.softmax"), kLines);
  OpCase("LogSoftmax").input({7, 100}).check(by("", "lines.softmax"), kLines);
}

TEST_P(Softmax, RunsAlongAnyAxis) {
  for (std::int64_t axis = 0; axis < 4; ++axis)
    softmax({2, 16, 5, 7}, axis).check_layouts(by("", "lines.softmax"), kLines);
  softmax({2, 300, 40}, 1).check(by("", "lines.softmax"), kLines);
  OpCase("LogSoftmax")
      .input({2, 19, 4, 5})
      .attribute("axis", std::int64_t{1})
      .check_layouts(by("", "lines.softmax"), kLines);
}

TEST_P(Softmax, KeepsNumbersThatAreNone) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  OpCase("Softmax")
      .input(Tensor::of<float>({3, 3}, {1, nan, 2, -inf, 1, 2, -inf, -inf, -inf}))
      .check(by("", "lines.softmax"));
}

TEST_P(Softmax, ComputesHalfPrecisionInFloatWithPostOps) {
  OpCase("Softmax").input(DType::kFloat16, {5, 70}).check(by("", "lines.softmax"), kNormalizedHalf);
  OpCase("Softmax").input(DType::kBFloat16, {5, 70}).check(by("", "lines.softmax"), {1e-2, 1e-2});
  softmax({4, 30}, -1).post_with_operand("Mul").check(by("", "lines.softmax"), kLines);
}

TEST_P(LayerNormalization, NormalizesRows) {
  OpCase("LayerNormalization")
      .input({7, 192})
      .constant({192})
      .constant({192})
      .check(by("", "lines.layer_normalization"), kLines);
  OpCase("LayerNormalization").input({2, 3, 1100}).input({1100}).check(by("", "lines.layer_normalization"), kLines);
  OpCase("LayerNormalization")
      .input({2, 3, 4, 5}, 100, 101)
      .input({4, 5})
      .input({4, 5})
      .attribute("axis", std::int64_t{2})
      .attribute("epsilon", 1e-3F)
      .post("Gelu")
      .check_layouts(by("", "lines.layer_normalization"), {2e-4, 2e-4});
  for (DType dtype : {DType::kFloat16, DType::kBFloat16})
    OpCase("LayerNormalization")
        .input(dtype, {5, 96})
        .input(dtype, {96})
        .input(dtype, {96})
        .check(by("", "lines.layer_normalization"), dtype == DType::kFloat16 ? kNormalizedHalf : Tolerance{5e-2, 2e-2});
}

TEST_P(LayerNormalization, DividesByTheRootOfTheMeanOfSquares) {
  OpCase("RMSNormalization").input({7, 192}).constant({192}).check(by("", "lines.layer_normalization"), kLines);
  OpCase("RMSNormalization").input({2, 3, 40}).input({3, 1}).check_layouts(by("", "lines.layer_normalization"), kLines);
}

TEST_P(GroupNormalization, NormalizesGroupsOfChannels) {
  for (std::int64_t groups : {1, 2, 6})
    OpCase("GroupNormalization")
        .input({2, 6, 5, 7}, 10, 12)
        .input({6})
        .input({6})
        .attribute("num_groups", groups)
        .check_layouts(by("", "lines.group_normalization"), {1e-4, 1e-4});
  OpCase("GroupNormalization")
      .input({1, 6, 50})
      .input({2})
      .input({2})
      .attribute("num_groups", std::int64_t{2})
      .check_layouts(by("", "lines.group_normalization"), kLines);
  OpCase("InstanceNormalization")
      .input({2, 5, 40, 30})
      .input({5})
      .input({5})
      .post("Relu")
      .check_layouts(by("", "lines.group_normalization"), {5e-5, 5e-5});
}

TEST_P(BatchNormalization, ScalesChannels) {
  OpCase("BatchNormalization")
      .input({2, 5, 4, 3})
      .constant({5})
      .constant({5})
      .constant({5})
      .constant({5}, 0.5F, 2)
      .check_layouts(by("", "elements.batch_normalization"), kLines);
  OpCase("BatchNormalization")
      .input({2, 5})
      .input({5})
      .constant({5})
      .constant({5})
      .input({5}, 0.5F, 2)
      .post("Relu")
      .check(by("", "elements.batch_normalization"), kLines);
}

}  // namespace
}  // namespace saccade
