#include <gtest/gtest.h>

#include "support/run_op.hpp"
#include "support/specials.hpp"

namespace saccade {
namespace {

/// Masks of one object by its box, from one prototype of ones over 4x4 cells of 8x8 pixels.
std::vector<float> mask_of(const std::array<float, 6>& row, const std::array<float, 6>& geometry) {
  const auto out = test::run_saccade_op(
      "BoxMasks",
      {Tensor::of<float>({1, 1}, {2}), Tensor::of<float>({1, 1, 4, 4}, std::vector<float>(16, 1.0F)),
       Tensor::of<float>({1, 6}, std::span<const float>(row)), Tensor::of<std::int32_t>({1}, {1}),
       Tensor::of<float>({6}, std::span<const float>(geometry))},
      1, {{"width", std::int64_t{8}}, {"height", std::int64_t{8}}});
  return test::elements<float>(out[0]);
}

constexpr std::array<float, 6> kPlainBox = {1, 1, 0, 0, 8, 8};

TEST(BoxMasks, SumsInTheCellsThatTheBoxNeeds) {
  const auto mask = mask_of({6, 0, 8, 2, 0.9F, 0}, kPlainBox);
  EXPECT_EQ(mask, (std::vector<float>{0, 0, 2, 2, 0, 0, 2, 2, 0, 0, 2, 2, 0, 0, 0, 0}));
}

TEST(BoxMasks, UsesNoCellsOfABoxWithNan) {
  const std::vector<float> none(16, 0.0F);
  EXPECT_EQ(mask_of({kNan, kNan, kNan, kNan, 0.9F, 0}, kPlainBox), none);
  EXPECT_EQ(mask_of({0, 0, 8, 8, 0.9F, 0}, {kNan, kNan, 0, 0, 8, 8}), none);
  EXPECT_EQ(mask_of({kInfinity, 0, -kInfinity, 8, 0.9F, 0}, kPlainBox), none);
  EXPECT_EQ(mask_of({-kInfinity, -1e30F, kInfinity, 1e30F, 0.9F, 0}, kPlainBox), std::vector<float>(16, 2.0F));
}

}  // namespace
}  // namespace saccade
