#include <gtest/gtest.h>

#include "ops/vision/pixels.hpp"
#include "support/mosaic_frame.hpp"
#include "support/run_op.hpp"

namespace saccade {
namespace {

using test::AttributeList;
using test::kMosaics;
using test::MosaicFrame;

/// The tensor and the geometry of FRAME.
std::vector<std::vector<float>> tensors_of(const FrameView& frame, const AttributeList& with) {
  Tensor input(DType::kFrame, {});
  std::memcpy(input.raw(), &frame, sizeof frame);
  const auto out = test::run_saccade_op("Preprocess", {input}, 2, with);
  return {test::elements<float>(out[0]), test::elements<float>(out[1])};
}

/// FRAME's preprocessing equals that of the RGB that it has by definition.
void expect_like_rgb(const FrameView& frame, const AttributeList& with) {
  std::vector<std::uint8_t> rgb = test::mosaic_rgb(frame);
  const FrameView converted = view_of(RgbView{rgb.data(), 3 * frame.width, frame.width, frame.height});
  EXPECT_EQ(tensors_of(frame, with), tensors_of(converted, with))
      << to_string(frame.format) << ' ' << frame.width << 'x' << frame.height;
}

AttributeList mosaic_attributes(int width, int height, const char* resize, const char* interpolation) {
  return {{"width", std::int64_t{width}},
          {"height", std::int64_t{height}},
          {"resize", std::string(resize)},
          {"interpolation", std::string(interpolation)}};
}

TEST(MosaicPreprocess, MakesTheColorsOfEveryPhaseAtEverySize) {
  for (const PixelFormat format : kMosaics)
    for (const auto& [width, height] :
         {std::pair(1, 1), {1, 5}, {6, 1}, {2, 2}, {3, 2}, {2, 3}, {7, 5}, {16, 9}, {33, 20}})
      for (const std::uint8_t poison : {0, 255}) {
        const MosaicFrame frame(format, width, height, poison == 0, 3, poison);
        expect_like_rgb(frame.view(), mosaic_attributes(width, height, "stretch", "bilinear"));
      }
}

TEST(MosaicPreprocess, ResizesAsRgbInEveryMode) {
  for (const char* resize : {"stretch", "letterbox", "letterbox-topleft", "resize-crop", "resize-crop-floor"})
    for (const char* interpolation :
         {"bilinear", "bilinear-antialias", "bicubic", "bicubic-antialias", "area", "nearest"}) {
      SCOPED_TRACE(std::string(resize) + ", " + interpolation);
      expect_like_rgb(MosaicFrame(PixelFormat::kBayerGrbg8, 31, 22).view(),
                      mosaic_attributes(17, 19, resize, interpolation));
      expect_like_rgb(MosaicFrame(PixelFormat::kBayerGbrg8, 8, 11).view(),
                      mosaic_attributes(20, 21, resize, interpolation));
    }
}

TEST(MosaicPreprocess, CountsPhasesFromTheFramesCornerInARegion) {
  for (const PixelFormat format : kMosaics)
    for (const auto& roi : {std::vector<std::int64_t>{1, 1, 6, 5}, {2, 3, 7, 7}, {13, 0, 1, 9}, {5, 8, 90, 90}})
      for (const char* interpolation : {"bilinear", "area"}) {
        AttributeList with = mosaic_attributes(6, 5, "stretch", interpolation);
        with.emplace_back("roi", roi);
        expect_like_rgb(MosaicFrame(format, 14, 9).view(), with);
      }
}

TEST(MosaicPreprocess, MakesLuma) {
  AttributeList with = mosaic_attributes(9, 7, "letterbox", "bilinear");
  with.emplace_back("color", std::string("gray"));
  expect_like_rgb(MosaicFrame(PixelFormat::kBayerBggr8, 14, 9).view(), with);
}

// cvtColor(samples, COLOR_BayerRGGB2RGB) and so on of OpenCV 5, without the outermost pixels.
TEST(MosaicPreprocess, IsOpenCvsInside) {
  std::vector<std::uint8_t> samples(24);
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<std::uint8_t>(37 * i % 251);
  const std::vector<std::vector<float>> expected = {
      {71, 134, 8, 45, 45, 45, 82, 82, 82, 119, 119, 119, 105, 230, 105, 16, 142, 79, 53, 53, 53, 90, 90, 90},
      {134, 8, 134, 108, 45, 45, 82, 82, 82, 119, 119, 119, 230, 105, 167, 142, 16, 142, 53, 53, 116, 90, 90, 90},
      {134, 8, 134, 45, 45, 108, 82, 82, 82, 119, 119, 119, 167, 105, 230, 142, 16, 142, 116, 53, 53, 90, 90, 90},
      {8, 134, 71, 45, 45, 45, 82, 82, 82, 119, 119, 119, 105, 230, 105, 79, 142, 16, 53, 53, 53, 90, 90, 90}};
  for (std::size_t i = 0; i < kMosaics.size(); ++i) {
    const FrameView frame{
        .format = kMosaics[i], .width = 6, .height = 4, .planes = {samples.data()}, .pitch_bytes = {6}};
    AttributeList with = mosaic_attributes(4, 2, "stretch", "bilinear");
    with.emplace_back("roi", std::vector<std::int64_t>{1, 1, 4, 2});
    const std::vector<float> planes = tensors_of(frame, with)[0];
    std::vector<float> pixels;
    for (std::size_t pixel = 0; pixel < 8; ++pixel)
      for (std::size_t c = 0; c < 3; ++c) pixels.push_back(planes[8 * c + pixel]);
    EXPECT_EQ(pixels, expected[i]) << to_string(kMosaics[i]);
  }
}

}  // namespace
}  // namespace saccade
