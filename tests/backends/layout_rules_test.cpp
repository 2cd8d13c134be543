#include "op_case/op_case.hpp"

namespace saccade {
namespace {

Tensor list(std::initializer_list<std::int64_t> values) {
  return Tensor::of<std::int64_t>({static_cast<std::int64_t>(values.size())}, values);
}

TEST(LayoutRules, ConvolutionsAndPoolsWantChannelsLast) {
  EXPECT_EQ(OpCase("Conv").input({1, 3, 8, 8}).constant({4, 3, 3, 3}, -1, 1).layout_rule(), LayoutRule::kChannelsLast);
  EXPECT_EQ(OpCase("GlobalAveragePool").input({1, 3, 8, 8}).layout_rule(), LayoutRule::kChannelsLast);
}

TEST(LayoutRules, ElementsAndMovesTakeEither) {
  EXPECT_EQ(OpCase("Sigmoid").input({1, 3, 8, 8}).layout_rule(), LayoutRule::kAny);
  EXPECT_EQ(OpCase("Resize").input({1, 3, 8, 8}).absent().constant(Tensor::of<float>({4}, {1, 1, 2, 2})).layout_rule(),
            LayoutRule::kAny);
  EXPECT_EQ(OpCase("Concat").input({1, 3, 8}).input({1, 2, 8}).attribute("axis", std::int64_t{1}).layout_rule(),
            LayoutRule::kAny);
}

/// Some kernels of bfloat16 run in one layout only.
TEST(LayoutRules, OfHalfPrecision) {
  const auto rule = [](const OpCase& made) { return made.in(DType::kBFloat16).layout_rule(); };
  const auto softmax = [](std::int64_t axis) { return OpCase("Softmax").input({1, 3, 8, 8}).attribute("axis", axis); };
  EXPECT_EQ(rule(OpCase("Sigmoid").input({1, 3, 8, 8})), LayoutRule::kAny);
  EXPECT_EQ(rule(OpCase("Conv").input({1, 3, 8, 8}).constant({8, 3, 3, 3}, -1, 1)), LayoutRule::kChannelsLast);
  EXPECT_EQ(rule(softmax(1)), LayoutRule::kChannelsLast);
  EXPECT_EQ(rule(softmax(-1)), LayoutRule::kRowMajor);
  EXPECT_EQ(rule(OpCase("Resize").input({1, 3, 8, 8}).absent().absent().constant(list({1, 3, 16, 16}))),
            LayoutRule::kChannelsLast);
}

TEST(LayoutRules, ReductionsOfSpaceTakeEither) {
  EXPECT_EQ(OpCase("ReduceMean").input({1, 3, 8, 8}).constant(list({2, 3})).layout_rule(), LayoutRule::kAny);
  EXPECT_EQ(OpCase("ReduceMean").input({1, 3, 8, 8}).constant(list({-1})).layout_rule(), LayoutRule::kRowMajor);
}

TEST(LayoutRules, NormalisationsByGroupsTakeEither) {
  EXPECT_EQ(OpCase("InstanceNormalization").input({1, 4, 8, 8}).constant({4}, -1, 1).constant({4}, -1, 1).layout_rule(),
            LayoutRule::kAny);
  const auto of_groups = [](OpCase image) {
    return image.constant({4}, -1, 1).constant({4}, -1, 1).attribute("num_groups", std::int64_t{2}).layout_rule();
  };
  EXPECT_EQ(of_groups(OpCase("GroupNormalization").input({1, 4, 8, 8})), LayoutRule::kAny);
  EXPECT_EQ(of_groups(OpCase("GroupNormalization").constant({1, 4, 8, 8}, -1, 1)), LayoutRule::kRowMajor);
}

TEST(LayoutRules, WhatIsSampledOrResizedOfAConstantStaysRowMajor) {
  const auto rule = [](OpCase image) { return image.input({2, 5, 5, 2}).layout_rule(); };
  EXPECT_EQ(rule(OpCase("GridSample").input({2, 3, 8, 8})), LayoutRule::kAny);
  EXPECT_EQ(rule(OpCase("GridSample").constant({2, 3, 8, 8}, -1, 1)), LayoutRule::kRowMajor);
  const Tensor twice = Tensor::of<float>({4}, {1, 1, 2, 2});
  EXPECT_EQ(OpCase("Resize").constant({1, 3, 8, 8}, -1, 1).absent().constant(twice).layout_rule(),
            LayoutRule::kRowMajor);
}

TEST(LayoutRules, WhatOnlyTheReferenceRunsStaysRowMajor) {
  EXPECT_EQ(OpCase("Conv").input({1, 3, 8, 8}).input({4, 3, 3, 3}).layout_rule(), LayoutRule::kRowMajor);
  EXPECT_EQ(OpCase("Add")
                .input(random_integers(DType::kInt64, {1, 3, 8}, 0, 9, 1))
                .input(random_integers(DType::kInt64, {1, 3, 8}, 0, 9, 2))
                .layout_rule(),
            LayoutRule::kRowMajor);
  EXPECT_EQ(
      OpCase("Pad").input({1, 3, 8}).constant(list({0, 0, 1, 0, 0, 1})).attribute("mode", "reflect").layout_rule(),
      LayoutRule::kRowMajor);
}

}  // namespace
}  // namespace saccade
