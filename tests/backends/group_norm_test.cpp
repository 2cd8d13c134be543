#include <random>

#include "op_case/op_case.hpp"

namespace saccade {
namespace {

constexpr Tolerance kClose{.absolute = 4e-6, .relative = 1e-5};

OpCase instance_norm(const Shape& shape, float low = -2, float high = 2) {
  return OpCase("InstanceNormalization")
      .input(shape, low, high)
      .constant({shape[1]}, -1, 1)
      .constant({shape[1]}, -1, 1);
}

OpCase group_norm(const Shape& shape, std::int64_t groups) {
  return OpCase("GroupNormalization")
      .input(shape)
      .constant({shape[1]}, -1, 1)
      .constant({shape[1]}, -1, 1)
      .attribute("num_groups", groups);
}

TEST(InstanceNorm, OfEveryRankInBothLayouts) {
  for (const Shape& shape : {Shape{2, 5, 33}, Shape{2, 37, 9, 13}, Shape{3, 17, 3, 5, 7}})
    instance_norm(shape).check_layouts(on_cpu("vector.group_norm"), kClose);
}

TEST(InstanceNorm, OfAsManyChannelsAsVectorsHoldAndMoreAndFewer) {
  for (const std::int64_t channels : {1, 3, 8, 15, 16, 64, 65, 96, 131})
    instance_norm({1, channels, 12, 11}).check_layouts(on_cpu("vector.group_norm"), kClose);
}

TEST(InstanceNorm, OfPlanesThatThreadsShare) {
  instance_norm({1, 3, 190, 201}).check_layouts(on_cpu("vector.group_norm"), kClose);
  instance_norm({3, 1, 190, 201}).check_layouts(on_cpu("vector.group_norm"), kClose);
  instance_norm({3, 32, 64, 65}).check_layouts(on_cpu("vector.group_norm"), kClose);
}

TEST(InstanceNorm, OfPlanesOfOneElementIsTheBias) {
  instance_norm({2, 19, 1, 1}).check_layouts(on_cpu("vector.group_norm"), kClose);
  instance_norm({2, 19}).check(on_cpu("vector.group_norm"), kClose);
}

TEST(InstanceNorm, OfNothing) {
  instance_norm({0, 4, 5}).check_layouts(on_cpu("vector.group_norm"));
  instance_norm({2, 4, 0, 3}).check_layouts(on_cpu("vector.group_norm"));
}

TEST(InstanceNorm, TakesItsEpsilon) {
  instance_norm({1, 8, 6, 6}, -1e-3F, 1e-3F)
      .attribute("epsilon", 0.5F)
      .check_layouts(on_cpu("vector.group_norm"), kClose);
}

TEST(GroupNorm, OfGroupsOfEverySize) {
  for (const std::int64_t groups : {1, 2, 3, 6, 9, 18, 54})
    group_norm({2, 54, 7, 9}, groups).check_layouts(on_cpu("vector.group_norm"), kClose);
}

TEST(GroupNorm, OfEveryRankInBothLayouts) {
  group_norm({3, 40}, 8).check(on_cpu("vector.group_norm"), kClose);
  for (const Shape& shape : {Shape{2, 40, 33}, Shape{1, 40, 64, 65}, Shape{2, 40, 3, 5, 7}})
    group_norm(shape, 8).check_layouts(on_cpu("vector.group_norm"), kClose);
}

TEST(GroupNorm, TakesOneScaleAndBiasAGroup) {
  OpCase("GroupNormalization")
      .input({2, 24, 5, 7})
      .constant({4}, -1, 1)
      .constant({4}, -1, 1)
      .attribute("num_groups", std::int64_t{4})
      .check_layouts(on_cpu("vector.group_norm"), kClose);
}

/// Close to 1000, 0.01 apart: float32 has steps of 0.00006 there.
Tensor far_from_zero(const Shape& shape) {
  Tensor tensor(DType::kFloat32, shape);
  std::mt19937 generator(7);
  std::normal_distribution<float> normal(1000, 0.01F);
  for (float& element : tensor.data<float>()) element = normal(generator);
  return tensor;
}

TEST(GroupNorm, IsExactWhereTheMeanIsLargeBesideTheDeviation) {
  for (const Shape& shape : {Shape{1, 32, 40, 41}, Shape{2, 6, 150, 151}, Shape{1, 48, 3, 3}})
    for (const std::int64_t groups : {std::int64_t{2}, shape[1]})
      OpCase("GroupNormalization")
          .input(far_from_zero(shape))
          .constant(random_tensor({shape[1]}, 0.5F, 1, 1))
          .constant(random_tensor({shape[1]}, -1, 1, 2))
          .attribute("num_groups", groups)
          .check_layouts(on_cpu("vector.group_norm"), {.absolute = 1e-5, .relative = 1e-5});
}

TEST(GroupNorm, IsExactWhereTheFirstElementsAreUnlikeTheRest) {
  // The shift is taken of the first eighth: here of zeros, and the rest is near 1000.
  Tensor tensor = far_from_zero({1, 16, 40, 41});
  for (std::int64_t channel = 0; channel < 16; ++channel)
    std::fill_n(tensor.data<float>().data() + channel * 40 * 41, 40 * 41 / 4, 0.0F);
  OpCase("GroupNormalization")
      .input(tensor)
      .constant(random_tensor({16}, 0.5F, 1, 1))
      .constant(random_tensor({16}, -1, 1, 2))
      .attribute("num_groups", std::int64_t{4})
      .check_layouts(on_cpu("vector.group_norm"), {.absolute = 1e-5, .relative = 1e-5});
}

TEST(GroupNorm, RunsItsPostOps) {
  group_norm({1, 24, 40, 41}, 4).post("Relu").check_layouts(on_cpu("vector.group_norm"), kClose);
  group_norm({1, 24, 40, 41}, 4)
      .post("LeakyRelu", 0.1F)
      .post("Silu")
      .check_layouts(on_cpu("vector.group_norm"), kClose);
  group_norm({1, 24, 5, 7}, 4).post("Relu").post_with_operand("Add").check_layouts(on_cpu("vector.group_norm"), kClose);
}

TEST(GroupNorm, RunsOnTwoThreadsAtOnce) {
  for (const Layout layout : {Layout::kRowMajor, Layout::kChannelsLast})
    group_norm({1, 32, 30, 31}, 8).check_two_threads(on_cpu("vector.group_norm"), layout, kClose);
}

TEST(GroupNorm, DeclinesOtherTypesAndAChangeOfLayout) {
  EXPECT_FALSE(OpCase("InstanceNormalization")
                   .input(Tensor(DType::kFloat64, {1, 3, 4}))
                   .constant(Tensor(DType::kFloat64, {3}))
                   .constant(Tensor(DType::kFloat64, {3}))
                   .supports(on_cpu("vector.group_norm")));
  EXPECT_FALSE(instance_norm({1, 3, 4, 5})
                   .output_layout(Layout::kRowMajor)
                   .supports(on_cpu("vector.group_norm"), Layout::kChannelsLast));
}

}  // namespace
}  // namespace saccade
