#include "pipeline/model/affine_crop.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include "media/convert.hpp"

namespace saccade {
namespace {

constexpr int kFrameWidth = 41;
constexpr int kFrameHeight = 30;

class AffineCropTest : public testing::Test {
 protected:
  AffineCropTest() : bytes_(std::size_t{3} * kFrameWidth * kFrameHeight) {
    std::mt19937 random(7);
    for (std::uint8_t& byte : bytes_) byte = static_cast<std::uint8_t>(random());
  }

  FrameView frame() { return view_of(RgbView{bytes_.data(), 3 * kFrameWidth, kFrameWidth, kFrameHeight}); }
  static int pixel(const FrameView& view, int x, int y, int c) {
    return view.planes[0][y * view.pitch_bytes[0] + 3 * x + c];
  }

  /// The pixel of the frame, continued beyond it.
  double source(int x, int y, int c, CropBorder border) {
    const bool is_inside = x >= 0 && y >= 0 && x < kFrameWidth && y < kFrameHeight;
    if (!is_inside && border == CropBorder::kBlack) return 0;
    return pixel(frame(), std::clamp(x, 0, kFrameWidth - 1), std::clamp(y, 0, kFrameHeight - 1), c);
  }

  void expect_interpolated(const AffineMap& map, int width, int height, CropBorder border) {
    const auto made = crop_.cut(frame(), map, width, height, border);
    ASSERT_TRUE(made);
    ASSERT_EQ(made->width, width);
    ASSERT_EQ(made->height, height);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        for (int c = 0; c < 3; ++c) {
          const double at_x = map.xx * x + map.xy * y + map.x0;
          const double at_y = map.yx * x + map.yy * y + map.y0;
          double sum = 0;
          for (int j = 0; j < 2; ++j)
            for (int i = 0; i < 2; ++i) {
              const int column = static_cast<int>(std::floor(at_x)) + i;
              const int row = static_cast<int>(std::floor(at_y)) + j;
              sum += (1 - std::abs(at_x - column)) * (1 - std::abs(at_y - row)) * source(column, row, c, border);
            }
          EXPECT_NEAR(pixel(*made, x, y, c), sum, 0.5001) << x << ", " << y;
        }
  }

  std::vector<std::uint8_t> bytes_;
  AffineCrop crop_;
};

TEST_F(AffineCropTest, OfAnUprightBoxAreItsPixels) {
  const OrientedBox box{.x = 13, .y = 9, .width = 10, .height = 6, .angle = 0};
  const auto made = crop_.cut(frame(), upright(box, 0, 10, 6), 10, 6, CropBorder::kBlack);
  ASSERT_TRUE(made);
  for (int y = 0; y < 6; ++y)
    for (int x = 0; x < 10; ++x) EXPECT_EQ(pixel(*made, x, y, 1), pixel(frame(), 8 + x, 6 + y, 1));
}

TEST_F(AffineCropTest, TurnsABoxUpright) {
  // Its width points down: a row of the crop is a column of the frame, read downwards from its right side.
  const OrientedBox box{.x = 13, .y = 9, .width = 10, .height = 6, .angle = std::numbers::pi_v<float> / 2};
  const auto made = crop_.cut(frame(), upright(box, 0, 10, 6), 10, 6, CropBorder::kBlack);
  ASSERT_TRUE(made);
  for (int y = 0; y < 6; ++y)
    for (int x = 0; x < 10; ++x) EXPECT_NEAR(pixel(*made, x, y, 2), pixel(frame(), 15 - y, 4 + x, 2), 1);
}

TEST_F(AffineCropTest, AddsAMarginToEachSide) {
  const OrientedBox box{.x = 20, .y = 15, .width = 10, .height = 10, .angle = 0};
  const AffineMap map = upright(box, 0.1F, 12, 12);
  EXPECT_NEAR(map.xx, 1, 1e-6);
  EXPECT_NEAR(map.x0, 14, 1e-5);
  EXPECT_NEAR(map.y0, 9, 1e-5);
}

TEST_F(AffineCropTest, InterpolatesBetweenPixelsInAndBeyondTheFrame) {
  for (const CropBorder border : {CropBorder::kBlack, CropBorder::kNearest}) {
    expect_interpolated({0.83, -0.4, 5.3, 0.37, 0.9, 2.1}, 23, 17, border);
    expect_interpolated({1.9, 0.6, -8.2, -0.5, 1.7, 4.4}, 25, 21, border);  // beyond every side
    expect_interpolated({0.2, 0, -0.7, 0, 0.2, -0.6}, 5, 5, border);        // within half a pixel of the corner
    expect_interpolated({0.1, 0, 39.5, 0, 0.1, 28.8}, 14, 12, border);      // of the other one
  }
}

TEST_F(AffineCropTest, IsNoneOutsideOfTheFrame) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  for (const AffineMap& map : {AffineMap{.x0 = -20}, AffineMap{.x0 = kFrameWidth}, AffineMap{.y0 = 1e30},
                               AffineMap{.x0 = kNan}, AffineMap{.yy = kNan}})
    EXPECT_FALSE(crop_.cut(frame(), map, 10, 10, CropBorder::kNearest));
}

TEST_F(AffineCropTest, StaysInTheFrameWhereABoxIsEndless) {
  const AffineMap map{.xx = 1e30, .x0 = -5e30, .yy = 1e30, .y0 = -5e30};
  const auto made = crop_.cut(frame(), map, 10, 10, CropBorder::kNearest);
  ASSERT_TRUE(made);
  EXPECT_EQ(pixel(*made, 9, 9, 0), pixel(frame(), kFrameWidth - 1, kFrameHeight - 1, 0));
}

TEST_F(AffineCropTest, TakesItsColorsFromFramesOfEveryFormat) {
  // 4:2:0 of odd size, cropped at an odd place.
  constexpr int kWidth = 21;
  constexpr int kHeight = 15;
  std::vector<std::uint8_t> luma(bytes_.begin(), bytes_.begin() + kWidth * kHeight);
  std::vector<std::uint8_t> chroma(bytes_.begin() + 400, bytes_.begin() + 400 + 22 * 8);
  FrameView nv12{.format = PixelFormat::kNv12, .width = kWidth, .height = kHeight};
  nv12.planes = {luma.data(), chroma.data()};
  nv12.pitch_bytes = {kWidth, 22};
  std::vector<std::uint8_t> rgb(std::size_t{3} * kWidth * kHeight);
  to_rgb(nv12, {rgb.data(), 3 * kWidth, kWidth, kHeight});
  const auto made = crop_.cut(nv12, {.x0 = 7, .y0 = 5}, 14, 10, CropBorder::kBlack);
  ASSERT_TRUE(made);
  for (int y = 0; y < 10; ++y)
    for (int x = 0; x < 14; ++x)
      for (int c = 0; c < 3; ++c)
        EXPECT_EQ(pixel(*made, x, y, c), rgb[static_cast<std::size_t>((y + 5) * 3 * kWidth + 3 * (x + 7) + c)]);
}

std::array<Keypoint, 5> landmarks(const std::array<std::array<float, 2>, 5>& places) {
  std::array<Keypoint, 5> made;
  for (std::size_t i = 0; i < made.size(); ++i) made[i] = {places[i][0], places[i][1]};
  return made;
}

/// Umeyama's formula by singular values in NumPy, inverted by OpenCV's invertAffineTransform.
TEST(AlignedFace, IsTheSimilarityOfLeastSquares) {
  const auto face =
      landmarks({{{242.3F, 215.5F}, {294.8F, 238.9F}, {253.6F, 264.0F}, {215.0F, 290.2F}, {266.0F, 315.2F}}});
  const auto map = aligned_face(face, 112, 112);
  ASSERT_TRUE(map);
  EXPECT_NEAR(map->xx, 1.76382863, 1e-5);
  EXPECT_NEAR(map->xy, -0.72503115, 1e-5);
  EXPECT_NEAR(map->x0, 207.64976063, 1e-3);
  EXPECT_NEAR(map->yx, 0.72503115, 1e-5);
  EXPECT_NEAR(map->yy, 1.76382863, 1e-5);
  EXPECT_NEAR(map->y0, 97.31863457, 1e-3);
}

TEST(AlignedFace, IsTheTemplateScaledToTheInput) {
  // InsightFace's template itself, for 112 x 112 pixels.
  const auto face = landmarks(
      {{{38.2946F, 51.6963F}, {73.5318F, 51.5014F}, {56.0252F, 71.7366F}, {41.5493F, 92.3655F}, {70.7299F, 92.2041F}}});
  const auto same = aligned_face(face, 112, 112);
  ASSERT_TRUE(same);
  EXPECT_NEAR(same->xx, 1, 1e-6);
  EXPECT_NEAR(same->x0, 0, 1e-4);
  const auto wide = aligned_face(face, 256, 224);  // twice, with 16 pixels on both sides
  ASSERT_TRUE(wide);
  EXPECT_NEAR(wide->xx, 0.5, 1e-6);
  EXPECT_NEAR(wide->xy, 0, 1e-6);
  EXPECT_NEAR(wide->x0, -8, 1e-4);
  EXPECT_NEAR(wide->y0, 0, 1e-4);
}

TEST(AlignedFace, IsNoneOfPointsThatDoNotSayWhereItIs) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(aligned_face(landmarks({{{5, 5}, {5, 5}, {5, 5}, {5, 5}, {5, 5}}}), 112, 112));
  EXPECT_FALSE(aligned_face(landmarks({{{kNan, 5}, {6, 5}, {7, 5}, {8, 5}, {9, 5}}}), 112, 112));
}

}  // namespace
}  // namespace saccade
