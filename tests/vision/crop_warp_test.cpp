#include "vision/crop_warp.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace saccade {
namespace {

constexpr int kWarpWidth = 40;
constexpr int kWarpHeight = 30;

/// An image of 40x30 pixels with a different colour in each.
struct WarpImage {
  std::vector<std::uint8_t> pixels;
  FrameView view;

  WarpImage() {
    for (int y = 0; y < kWarpHeight; ++y)
      for (int x = 0; x < kWarpWidth; ++x)
        for (const int value : {37 * x + 11 * y, 5 * x * y + 3, x * x + 7 * y})
          pixels.push_back(static_cast<std::uint8_t>(value % 256));
    view = view_of(RgbView{pixels.data(), 3 * kWarpWidth, kWarpWidth, kWarpHeight});
  }
};

std::vector<int> channel_of(const FrameView& frame, const CropWarp& crop, std::size_t channel) {
  std::vector<std::uint8_t> rgb(3 * static_cast<std::size_t>(crop.width) * static_cast<std::size_t>(crop.height));
  warp(frame, crop, rgb.data());
  std::vector<int> values;
  for (std::size_t i = channel; i < rgb.size(); i += 3) values.push_back(rgb[i]);
  return values;
}

/// The expected pixels are those of OpenCV 5: warpAffine(image, map, size, INTER_LINEAR | WARP_INVERSE_MAP).
TEST(CropWarp, IsWarpAffine) {
  const WarpImage image;
  const auto inside = oriented_crop({20, 15, 8, 4, 0.5F}, 0, 100);
  ASSERT_TRUE(inside);
  EXPECT_EQ(channel_of(image.view, *inside, 0),
            (std::vector<int>{211, 31, 69, 106, 144, 182, 219, 183, 175, 39,  60, 98, 136, 174, 211, 96,
                              185, 15, 52, 90,  128, 166, 203, 156, 225, 112, 44, 82, 120, 157, 195, 233}));
  const auto outside = oriented_crop({2, 2, 6, 3, -0.8F}, 0, 100);
  ASSERT_TRUE(outside);
  EXPECT_EQ(channel_of(image.view, *outside, 1),
            (std::vector<int>{0, 2, 6, 6, 2, 0, 2, 9, 14, 14, 8, 2, 12, 22, 27, 27, 21, 11}));
}

TEST(CropWarp, OfAnUnrotatedBoxIsTheBox) {
  const WarpImage image;
  const auto crop = oriented_crop({8, 6, 4, 2, 0}, 0, 100);
  ASSERT_TRUE(crop);
  std::vector<int> expected;
  for (int y = 5; y < 7; ++y)
    for (int x = 6; x < 10; ++x) expected.push_back((37 * x + 11 * y) % 256);
  EXPECT_EQ(channel_of(image.view, *crop, 0), expected);
}

TEST(CropWarp, OfAQuarterTurnReadsDownwards) {
  const WarpImage image;
  const auto crop = oriented_crop({8, 6, 4, 2, static_cast<float>(M_PI / 2)}, 0, 100);
  ASSERT_TRUE(crop);
  std::vector<int> expected;
  for (int x = 8; x > 6; --x)
    for (int y = 4; y < 8; ++y) expected.push_back((37 * x + 11 * y) % 256);
  EXPECT_EQ(channel_of(image.view, *crop, 0), expected);
}

TEST(CropWarp, HasAMarginAndALargestSize) {
  const auto crop = oriented_crop({8, 6, 40, 2, 0.3F}, 0.25F, 50);
  ASSERT_TRUE(crop);
  EXPECT_EQ(crop->width, 50);
  EXPECT_EQ(crop->height, 3);
}

TEST(CropWarp, OfAnInvalidBoxIsNone) {
  EXPECT_FALSE(oriented_crop({8, 6, 0.5F, 2, 0}, 0, 100));
  EXPECT_FALSE(oriented_crop({8, 6, 4, -2, 0}, 0, 100));
  EXPECT_FALSE(oriented_crop({NAN, 6, 4, 2, 0}, 0, 100));
  EXPECT_FALSE(oriented_crop({8, 6, 4, 2, INFINITY}, 0, 100));
}

TEST(CropWarp, OfAnI420FrameConvertsItsPixels) {
  std::vector<std::uint8_t> luma(16 * 8, 81);
  std::vector<std::uint8_t> u(8 * 4, 90);
  std::vector<std::uint8_t> v(8 * 4, 240);
  FrameView frame{.format = PixelFormat::kI420, .width = 16, .height = 8};
  frame.planes = {luma.data(), u.data(), v.data()};
  frame.pitch_bytes = {16, 8, 8};
  const auto crop = oriented_crop({8, 4, 4, 4, 0.3F}, 0, 100);
  for (const int red : channel_of(frame, *crop, 0)) EXPECT_GT(red, 250);
  for (const int blue : channel_of(frame, *crop, 2)) EXPECT_LT(blue, 5);
}

const std::vector<Keypoint> kLandmarks = {{12, 9}, {25, 11}, {17.5F, 15}, {12, 21}, {23, 22}};

/// The expected numbers are those of Umeyama's method by a singular value decomposition (numpy), and of warpAffine.
TEST(FaceCrop, IsTheSimilarityTransformToTheTemplate) {
  const auto crop = face_crop(kLandmarks, 112, 112);
  ASSERT_TRUE(crop);
  const std::array<double, 6> expected = {0.32433639022681626,  -0.03602337163134767, 2.3187860258537225,
                                          0.036023371631347674, 0.32433639022681626,  -9.738290622449812};
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(crop->map.at(i), expected.at(i), 1e-6);
  const WarpImage image;
  const std::vector<int> red = channel_of(image.view, *crop, 0);
  EXPECT_NEAR(red[40 * 112 + 40], 52, 1);
  EXPECT_NEAR(red[60 * 112 + 70], 213, 1);
  EXPECT_NEAR(red[92 * 112 + 56], 110, 1);
}

TEST(FaceCrop, HasTheSizeOfTheInput) {
  const auto crop = face_crop(kLandmarks, 56, 56);
  ASSERT_TRUE(crop);
  EXPECT_EQ(crop->width, 56);
  const auto whole = face_crop(kLandmarks, 112, 112);
  EXPECT_NEAR(crop->map[0], 2 * whole->map[0], 1e-9);
  EXPECT_NEAR(crop->map[2], whole->map[2], 1e-9);
}

TEST(FaceCrop, NeedsFiveFinitePoints) {
  EXPECT_FALSE(face_crop({}, 112, 112));
  EXPECT_FALSE(face_crop(std::vector<Keypoint>(5, Keypoint{3, 4}), 112, 112));
  std::vector<Keypoint> landmarks = kLandmarks;
  landmarks[2].x = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(face_crop(landmarks, 112, 112));
  landmarks[2].x = INFINITY;
  EXPECT_FALSE(face_crop(landmarks, 112, 112));
}

}  // namespace
}  // namespace saccade
