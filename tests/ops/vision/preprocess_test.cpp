#include <gtest/gtest.h>

#include <algorithm>

#include "ops/vision/pixels.hpp"
#include "support/run_op.hpp"

namespace saccade {
namespace {

using test::AttributeList;
using test::elements;

/// An image that owns its samples; rows without padding.
struct FilledImage {
  FilledImage(PixelFormat format, int width, int height, std::vector<std::vector<std::uint8_t>> samples)
      : planes(std::move(samples)) {
    view.format = format;
    view.width = width;
    view.height = height;
  }
  Tensor tensor() const {
    FrameView bound = view;
    const auto sizes = plane_sizes(view.format, view.width, view.height);
    for (std::size_t i = 0; i < planes.size(); ++i) {
      EXPECT_EQ(planes[i].size(), static_cast<std::size_t>(sizes[i].row_bytes * sizes[i].rows));
      bound.planes[i] = planes[i].data();
      bound.pitch_bytes[i] = sizes[i].row_bytes;
    }
    Tensor frame(DType::kFrame, {});
    std::memcpy(frame.raw(), &bound, sizeof bound);
    return frame;
  }

  std::vector<std::vector<std::uint8_t>> planes;
  FrameView view;
};

FilledImage gray(int width, int height, std::vector<std::uint8_t> samples) {
  return {PixelFormat::kGray8, width, height, {std::move(samples)}};
}

AttributeList attributes(int width, int height, const std::string& resize, const AttributeList& more = {}) {
  AttributeList all = {{"width", std::int64_t{width}}, {"height", std::int64_t{height}}, {"resize", resize}};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::vector<Tensor> preprocessed(const FilledImage& image, const AttributeList& with) {
  return test::run_saccade_op("Preprocess", {image.tensor()}, 2, with);
}

const AttributeList kGray = {{"color", std::string("gray")}};

TEST(Preprocess, KeepsPixelsWhenNothingIsScaled) {
  const FilledImage image(PixelFormat::kRgb24, 2, 1, {{1, 2, 3, 4, 5, 6}});
  const auto out = preprocessed(image, attributes(2, 1, "stretch"));
  EXPECT_EQ(out[0].shape(), (Shape{1, 3, 1, 2}));
  EXPECT_EQ(elements<float>(out[0]), (std::vector<float>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(elements<float>(out[1]), (std::vector<float>{1, 1, 0, 0, 2, 1}));
}

TEST(Preprocess, OrdersChannelsAndScalesThem) {
  const FilledImage image(PixelFormat::kBgr24, 1, 1, {{30, 20, 10}});  // R 10, G 20, B 30
  const auto out = preprocessed(image, attributes(1, 1, "stretch",
                                                  {{"color", std::string("bgr")},
                                                   {"scale", std::vector<float>{1, 0.5F, 0.25F}},
                                                   {"bias", std::vector<float>{0, 1, -1}}}));
  EXPECT_EQ(elements<float>(out[0]), (std::vector<float>{30, 11, 1.5F}));
}

TEST(Preprocess, InterpolatesBetweenPixelCentres) {
  // Twice as wide: the new centres lie at -0.25, 0.25, 0.75, 1.25 of the old.
  const auto out = preprocessed(gray(2, 1, {0, 200}), attributes(4, 1, "stretch", kGray));
  EXPECT_EQ(elements<float>(out[0]), (std::vector<float>{0, 50, 150, 200}));
}

TEST(Preprocess, DownscalesByTwoByAveragingFourPixels) {
  const auto out = preprocessed(gray(4, 2, {10, 20, 50, 60, 30, 40, 70, 80}), attributes(2, 1, "stretch", kGray));
  EXPECT_EQ(elements<float>(out[0]), (std::vector<float>{25, 65}));
}

TEST(Preprocess, CentresALetterboxBetweenPads) {
  AttributeList with = attributes(4, 4, "letterbox", kGray);
  with.emplace_back("pad", std::vector<std::int64_t>{114, 0, 0});
  const auto out = preprocessed(gray(4, 2, {1, 2, 3, 4, 5, 6, 7, 8}), with);
  EXPECT_EQ(elements<float>(out[0]),
            (std::vector<float>{114, 114, 114, 114, 1, 2, 3, 4, 5, 6, 7, 8, 114, 114, 114, 114}));
  EXPECT_EQ(elements<float>(out[1]), (std::vector<float>{1, 1, 0, 1, 4, 2}));
}

TEST(Preprocess, PutsALetterboxIntoTheCorner) {
  AttributeList with = attributes(2, 3, "letterbox-topleft", kGray);
  with.emplace_back("pad", std::vector<std::int64_t>{9, 0, 0});
  const auto out = preprocessed(gray(2, 1, {1, 2}), with);
  EXPECT_EQ(elements<float>(out[0]), (std::vector<float>{1, 2, 9, 9, 9, 9}));
}

TEST(Preprocess, CropsTheCentreAfterResizing) {
  // The short side is 2 already; the middle two of six columns remain.
  const auto out =
      preprocessed(gray(6, 2, {0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15}),
                   attributes(2, 2, "resize-crop", {{"color", std::string("gray")}, {"resize_to", std::int64_t{2}}}));
  EXPECT_EQ(elements<float>(out[0]), (std::vector<float>{2, 3, 12, 13}));
  EXPECT_EQ(elements<float>(out[1]), (std::vector<float>{1, 1, -2, 0, 6, 2}));
}

TEST(Preprocess, RoundsTheCornerOfACropAsItsToolDoes) {
  // Three columns too many: torchvision's crop begins at 1.5 rounded half to even, Hugging Face's at 1.
  for (const auto& [mode, column] : {std::pair{"resize-crop", 2.0F}, std::pair{"resize-crop-floor", 1.0F}}) {
    const auto out =
        preprocessed(gray(5, 2, {0, 1, 2, 3, 4, 0, 1, 2, 3, 4}),
                     attributes(2, 2, mode, {{"color", std::string("gray")}, {"resize_to", std::int64_t{2}}}));
    EXPECT_EQ(elements<float>(out[0]), (std::vector<float>{column, column + 1, column, column + 1})) << mode;
    EXPECT_EQ(elements<float>(out[1])[2], -column) << mode;
  }
}

TEST(Preprocess, LooksAtTheRegionOfInterestAlone) {
  AttributeList with = attributes(4, 1, "stretch", kGray);
  with.emplace_back("roi", std::vector<std::int64_t>{1, 0, 2, 1});
  const auto out = preprocessed(gray(4, 1, {255, 0, 200, 255}), with);
  EXPECT_EQ(elements<float>(out[0]), (std::vector<float>{0, 50, 150, 200}));
  EXPECT_EQ(elements<float>(out[1]), (std::vector<float>{2, 1, -2, 0, 4, 1}));
}

TEST(Preprocess, RejectsARegionOutsideOfTheFrame) {
  AttributeList with = attributes(4, 1, "stretch", kGray);
  with.emplace_back("roi", std::vector<std::int64_t>{4, 0, 2, 1});
  EXPECT_THROW(preprocessed(gray(4, 1, {1, 2, 3, 4}), with), Error);
}

// BT.601, limited range: black, white, and pure red (Y 81, U 90, V 240).
TEST(Preprocess, ConvertsLimitedYuv) {
  const FilledImage image(PixelFormat::kI444, 3, 1, {{16, 235, 81}, {128, 128, 90}, {128, 128, 240}});
  const auto out = preprocessed(image, attributes(3, 1, "stretch"));
  EXPECT_EQ(elements<float>(out[0]), (std::vector<float>{0, 255, 254, 0, 255, 0, 0, 255, 0}));
}

TEST(Preprocess, TakesMatrixAndRangeFromTheFrame) {
  FilledImage image(PixelFormat::kI444, 1, 1, {{100}, {128}, {178}});
  image.view.range = ColorRange::kFull;
  image.view.matrix = ColorMatrix::kBt709;  // R = Y + 1.5748 * 50 = 178.7, G = Y - 0.4681 * 50 = 76.6
  const auto out = preprocessed(image, attributes(1, 1, "stretch"));
  EXPECT_EQ(elements<float>(out[0]), (std::vector<float>{179, 77, 100}));
}

TEST(Preprocess, ReadsEveryYuvFormatAlike) {
  // One colour everywhere, so that the formats differ only in where their samples are.
  const std::vector<FilledImage> images = {
      {PixelFormat::kI420, 4, 2, {std::vector<std::uint8_t>(8, 81), {90, 90}, {240, 240}}},
      {PixelFormat::kI422, 4, 2, {std::vector<std::uint8_t>(8, 81), {90, 90, 90, 90}, {240, 240, 240, 240}}},
      {PixelFormat::kNv12, 4, 2, {std::vector<std::uint8_t>(8, 81), {90, 240, 90, 240}}},
      {PixelFormat::kYuyv, 4, 2, {{81, 90, 81, 240, 81, 90, 81, 240, 81, 90, 81, 240, 81, 90, 81, 240}}},
      {PixelFormat::kUyvy, 4, 2, {{90, 81, 240, 81, 90, 81, 240, 81, 90, 81, 240, 81, 90, 81, 240, 81}}},
  };
  for (const FilledImage& image : images) {
    const auto out = preprocessed(image, attributes(1, 1, "stretch"));
    EXPECT_EQ(elements<float>(out[0]), (std::vector<float>{254, 0, 0})) << to_string(image.view.format);
  }
}

TEST(Preprocess, SpreadsHalvedChromaOverItsPixels) {
  // Chroma samples lie between pixels 0 and 1, 2 and 3: pixel 1 is a quarter of the way.
  FilledImage image(PixelFormat::kI420, 4, 1, {{0, 0, 0, 0}, {128, 128}, {128, 168}});
  image.view.range = ColorRange::kFull;  // R = 1.402 * (V - 128): 0, 10, 30, 40
  const auto out = elements<float>(preprocessed(image, attributes(4, 1, "stretch"))[0]);
  EXPECT_EQ((std::vector<float>(out.begin(), out.begin() + 4)), (std::vector<float>{0, 14, 42, 56}));
}

TEST(Preprocess, HandlesOddSizesOfHalvedChroma) {
  const FilledImage image(PixelFormat::kI420, 3, 3,
                          {std::vector<std::uint8_t>(9, 81), {90, 90, 90, 90}, {240, 240, 240, 240}});
  for (float value : elements<float>(
           preprocessed(image, attributes(5, 7, "letterbox", {{"pad", std::vector<std::int64_t>{254, 0, 0}}}))[0]))
    EXPECT_TRUE(value == 254 || value == 0) << value;
}

TEST(Preprocess, SurvivesExtremeAspects) {
  const FilledImage thin = gray(1, 2000, std::vector<std::uint8_t>(2000, 7));
  for (const char* mode : {"stretch", "letterbox", "letterbox-topleft", "resize-crop", "resize-crop-floor"}) {
    const auto out = elements<float>(preprocessed(thin, attributes(8, 8, mode, kGray))[0]);
    EXPECT_TRUE(std::ranges::any_of(out, [](float v) { return v == 7; })) << mode;
    EXPECT_TRUE(std::ranges::all_of(out, [](float v) { return v == 7 || v == 0; })) << mode;
  }
}

TEST(Preprocess, RejectsInvalidAttributes) {
  const FilledImage image = gray(1, 1, {0});
  EXPECT_THROW(preprocessed(image, attributes(0, 1, "stretch")), Error);
  EXPECT_THROW(preprocessed(image, attributes(1, 1 << 20, "stretch")), Error);
  EXPECT_THROW(preprocessed(image, attributes(1, 1, "squash")), Error);
  EXPECT_THROW(preprocessed(image, attributes(1, 1, "stretch", {{"pad", std::vector<std::int64_t>{256, 0, 0}}})),
               Error);
  EXPECT_THROW(preprocessed(image, attributes(1, 1, "stretch", {{"scale", std::vector<float>{1}}})), Error);
  EXPECT_THROW(preprocessed(image, attributes(1, 1, "stretch", {{"roi", std::vector<std::int64_t>{0, 0, -1, 1}}})),
               Error);
}

// The result of Ultralytics' LetterBox for these sizes.
TEST(Placement, RoundsALetterboxAsUltralyticsDoes) {
  PreprocessSpec spec;
  spec.width = spec.height = 640;
  spec.resize = ResizeMode::kLetterbox;
  const Placement odd = place(spec, 500, 333);  // 640 x 426.24
  EXPECT_EQ(odd.width, 640);
  EXPECT_EQ(odd.height, 426);
  EXPECT_EQ(odd.y, 107);
  const Placement half = place(spec, 640, 427);  // the padding of 213 is split into 106 and 107
  EXPECT_EQ(half.y, 106);
}

}  // namespace
}  // namespace saccade
