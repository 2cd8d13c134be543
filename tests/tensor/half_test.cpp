#include "tensor/half.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/specials.hpp"

namespace saccade {
namespace {

TEST(Float16, KnowsItsBits) {
  EXPECT_EQ(Float16(1.0F).bits, 0x3C00);
  EXPECT_EQ(Float16(-2.0F).bits, 0xC000);
  EXPECT_EQ(Float16(65504.0F).bits, 0x7BFF);
  EXPECT_EQ(Float16(0x1p-24F).bits, 0x0001);
  EXPECT_EQ(Float16(-0.0F).bits, 0x8000);
}

TEST(Float16, RoundsHalfToEven) {
  EXPECT_EQ(Float16(2049.0F), 2048.0F);
  EXPECT_EQ(Float16(2051.0F), 2052.0F);
  EXPECT_EQ(Float16(1.5F * 0x1p-24F), 2 * 0x1p-24F);
  EXPECT_EQ(Float16(0.5F * 0x1p-24F), 0.0F);
}

TEST(Float16, OverflowsToInfinity) {
  EXPECT_EQ(Float16(65519.0F), 65504.0F);
  EXPECT_EQ(Float16(65520.0F), kInfinity);
  EXPECT_EQ(Float16(-1e9F), -kInfinity);
  EXPECT_EQ(Float16(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(static_cast<float>(Float16(std::nanf("")))));
}

TEST(Float16, EveryFiniteValueSurvivesTheWayThroughFloat) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = Float16::from_bits(static_cast<std::uint16_t>(bits));
    if (std::isnan(static_cast<float>(half))) continue;
    ASSERT_EQ(Float16(static_cast<float>(half)).bits, bits);
  }
}

TEST(BFloat16, RoundsHalfToEven) {
  EXPECT_EQ(BFloat16(1.0F).bits, 0x3F80);
  EXPECT_EQ(BFloat16(257.0F), 256.0F);
  EXPECT_EQ(BFloat16(259.0F), 260.0F);
  EXPECT_EQ(BFloat16(std::numeric_limits<float>::max()), kInfinity);
  EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(std::nanf("")))));
}

}  // namespace
}  // namespace saccade
