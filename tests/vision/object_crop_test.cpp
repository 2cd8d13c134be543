#include "vision/object_crop.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace saccade {
namespace {

std::array<int, 4> region_for(std::array<float, 4> box, float margin = 0, PixelFormat format = PixelFormat::kRgb24) {
  const std::optional<Region> region =
      object_region({.box = box}, margin, {.format = format, .width = 100, .height = 60});
  if (!region) return {};
  return {region->x, region->y, region->width, region->height};
}

TEST(ObjectCrop, HoldsThePixelsThatTheBoxTouches) {
  EXPECT_EQ(region_for({10, 20, 30, 50}), (std::array{10, 20, 20, 30}));
  EXPECT_EQ(region_for({10.2F, 20.9F, 29.1F, 49.5F}), (std::array{10, 20, 20, 30}));
  EXPECT_EQ(region_for({10.2F, 20.2F, 10.4F, 20.3F}), (std::array{10, 20, 1, 1}));
}

TEST(ObjectCrop, HasAMarginOnEachSide) {
  EXPECT_EQ(region_for({10, 20, 30, 50}, 0.1F), (std::array{8, 17, 24, 36}));
  EXPECT_EQ(region_for({0, 0, 100, 60}, 0.5F), (std::array{0, 0, 100, 60}));
}

TEST(ObjectCrop, EndsAtTheBordersOfTheFrame) {
  EXPECT_EQ(region_for({-5, -5, 10, 10}), (std::array{0, 0, 10, 10}));
  EXPECT_EQ(region_for({90, 50, 300, 300}), (std::array{90, 50, 10, 10}));
  EXPECT_EQ(region_for({-1e30F, -1e30F, 1e30F, 1e30F}), (std::array{0, 0, 100, 60}));
}

TEST(ObjectCrop, IsNoneWithoutAPixel) {
  EXPECT_EQ(region_for({-10, 10, 0, 20}), (std::array<int, 4>{}));
  EXPECT_EQ(region_for({100, 10, 120, 20}), (std::array<int, 4>{}));
  EXPECT_EQ(region_for({30, 20, 10, 50}), (std::array<int, 4>{}));
  EXPECT_EQ(region_for({10, 20, 10, 50}), (std::array<int, 4>{}));
  EXPECT_EQ(region_for({NAN, 20, 30, 50}), (std::array<int, 4>{}));
}

TEST(ObjectCrop, BeginsAtAWholeChromaSample) {
  EXPECT_EQ(region_for({11, 21, 30, 50}, 0, PixelFormat::kI420), (std::array{10, 20, 20, 30}));
  EXPECT_EQ(region_for({11, 21, 30, 50}, 0, PixelFormat::kI444), (std::array{11, 21, 19, 29}));
}

}  // namespace
}  // namespace saccade
