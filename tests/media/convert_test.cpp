#include "media/convert.hpp"

#include <gtest/gtest.h>

extern "C" {
#include <libswscale/swscale.h>
}

#include <cstdlib>
#include <memory>
#include <vector>

#include "media/images.hpp"
#include "support/mosaic_frame.hpp"
#include "support/printers.hpp"

namespace saccade {
namespace {

using test::RgbImage;

/// Planes of random samples between 96 and 159, so that no colour is clipped in RGB, with padding after each row.
struct Samples {
  Samples(PixelFormat format, int width, int height) {
    view = {.format = format, .width = width, .height = height};
    const auto sizes = plane_sizes(format, width, height);
    std::uint32_t random = 7;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const int pitch = sizes[i].row_bytes + 9;
      planes[i].resize(static_cast<std::size_t>(pitch * sizes[i].rows));
      for (std::uint8_t& sample : planes[i])
        sample = static_cast<std::uint8_t>(96 + ((random = random * 1664525U + 1013904223U) >> 26));
      if (sizes[i].rows == 0) continue;
      view.planes[i] = planes[i].data();
      view.pitch_bytes[i] = pitch;
    }
  }
  FrameView view;
  std::array<std::vector<std::uint8_t>, 3> planes;
};

struct Yuv {
  std::uint8_t y, u, v;
};

/// One pixel of that colour, converted.
std::array<int, 3> rgb_of(Yuv yuv, ColorMatrix matrix, ColorRange range) {
  const FrameView view = {.format = PixelFormat::kI444,
                          .matrix = matrix,
                          .range = range,
                          .width = 1,
                          .height = 1,
                          .planes = {&yuv.y, &yuv.u, &yuv.v},
                          .pitch_bytes = {1, 1, 1}};
  RgbImage image(1, 1);
  to_rgb(view, image.pixels());
  return {image.rgb[0], image.rgb[1], image.rgb[2]};
}

using Rgb = std::array<int, 3>;

TEST(ToRgb, KnownColours) {
  using enum ColorMatrix;
  using enum ColorRange;
  EXPECT_EQ(rgb_of({16, 128, 128}, kBt601, kLimited), (Rgb{0, 0, 0}));
  EXPECT_EQ(rgb_of({235, 128, 128}, kBt601, kLimited), (Rgb{255, 255, 255}));
  EXPECT_EQ(rgb_of({0, 128, 128}, kBt601, kFull), (Rgb{0, 0, 0}));
  EXPECT_EQ(rgb_of({255, 128, 128}, kBt601, kFull), (Rgb{255, 255, 255}));
  // Pure red, from the standards' colour bars.
  EXPECT_EQ(rgb_of({81, 90, 240}, kBt601, kLimited), (Rgb{254, 0, 0}));
  EXPECT_EQ(rgb_of({63, 102, 240}, kBt709, kLimited), (Rgb{255, 1, 0}));
  EXPECT_EQ(rgb_of({76, 85, 255}, kBt601, kFull), (Rgb{254, 0, 0}));
  EXPECT_EQ(rgb_of({54, 99, 255}, kBt709, kFull), (Rgb{254, 0, 0}));
  EXPECT_EQ(rgb_of({74, 97, 240}, kBt2020, kLimited), (Rgb{255, 0, 1}));
}

struct FormatCase {
  PixelFormat ours;
  AVPixelFormat theirs;
};
void PrintTo(const FormatCase& each, std::ostream* out) { PrintTo(each.ours, out); }

class ToRgbLikeSwscale : public testing::TestWithParam<FormatCase> {};

/// swscale's result at its highest accuracy, with nearest chroma.
RgbImage swscaled(const FrameView& view, AVPixelFormat format) {
  RgbImage image(view.width, view.height);
  SwsContext* context =
      sws_getContext(view.width, view.height, format, view.width, view.height, AV_PIX_FMT_RGB24,
                     SWS_POINT | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT | SWS_FULL_CHR_H_INP, nullptr, nullptr, nullptr);
  const int* table = sws_getCoefficients(view.matrix == ColorMatrix::kBt709 ? SWS_CS_ITU709 : SWS_CS_ITU601);
  const int full = view.range == ColorRange::kFull ? 1 : 0;
  sws_setColorspaceDetails(context, table, full, table, 1, 0, 1 << 16, 1 << 16);
  std::uint8_t* to[] = {image.rgb.data()};
  const int pitch[] = {3 * view.width};
  sws_scale(context, view.planes.data(), view.pitch_bytes.data(), 0, view.height, to, pitch);
  sws_freeContext(context);
  return image;
}

TEST_P(ToRgbLikeSwscale, WithinItsRounding) {
  for (const ColorMatrix matrix : {ColorMatrix::kBt601, ColorMatrix::kBt709}) {
    for (const ColorRange range : {ColorRange::kLimited, ColorRange::kFull}) {
      Samples samples(GetParam().ours, 38, 14);
      samples.view.matrix = matrix;
      samples.view.range = range;
      RgbImage ours(38, 14);

      to_rgb(samples.view, ours.pixels());

      const RgbImage theirs = swscaled(samples.view, GetParam().theirs);
      for (std::size_t i = 0; i < ours.rgb.size(); ++i)
        ASSERT_NEAR(ours.rgb[i], theirs.rgb[i], 2) << to_string(GetParam().ours) << " byte " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, ToRgbLikeSwscale,
                         testing::Values(FormatCase{PixelFormat::kRgb24, AV_PIX_FMT_RGB24},
                                         FormatCase{PixelFormat::kBgr24, AV_PIX_FMT_BGR24},
                                         FormatCase{PixelFormat::kI420, AV_PIX_FMT_YUV420P},
                                         FormatCase{PixelFormat::kI422, AV_PIX_FMT_YUV422P},
                                         FormatCase{PixelFormat::kI444, AV_PIX_FMT_YUV444P},
                                         FormatCase{PixelFormat::kNv12, AV_PIX_FMT_NV12},
                                         FormatCase{PixelFormat::kYuyv, AV_PIX_FMT_YUYV422},
                                         FormatCase{PixelFormat::kUyvy, AV_PIX_FMT_UYVY422}),
                         [](const auto& format) { return std::string(to_string(format.param.ours)); });

TEST(ToRgb, GrayFollowsItsRange) {
  const std::uint8_t samples[] = {16, 126, 235, 0};
  FrameView view = {.format = PixelFormat::kGray8,
                    .range = ColorRange::kFull,
                    .width = 4,
                    .height = 1,
                    .planes = {samples},
                    .pitch_bytes = {4}};
  RgbImage full(4, 1);
  RgbImage limited(4, 1);

  to_rgb(view, full.pixels());
  view.range = ColorRange::kLimited;
  to_rgb(view, limited.pixels());

  EXPECT_EQ(full.rgb, (std::vector<std::uint8_t>{16, 16, 16, 126, 126, 126, 235, 235, 235, 0, 0, 0}));
  EXPECT_EQ(limited.rgb, (std::vector<std::uint8_t>{0, 0, 0, 128, 128, 128, 255, 255, 255, 0, 0, 0}));
}

TEST(ToRgb, MosaicsHaveTheColorsOfTheirDefinition) {
  for (const PixelFormat format : test::kMosaics)
    for (const auto& [width, height] : {std::pair(1, 1), {1, 4}, {5, 1}, {2, 2}, {3, 4}, {8, 7}, {21, 10}})
      for (const std::uint8_t poison : {0, 255}) {
        const test::MosaicFrame frame(format, width, height, poison == 0, 5, poison);
        RgbImage image(width, height);

        to_rgb(frame.view(), image.pixels());

        EXPECT_EQ(image.rgb, test::mosaic_rgb(frame.view())) << to_string(format) << ' ' << width << 'x' << height;
      }
}

TEST(ToRgb, OddSizesUseTheirLastChromaSample) {
  Samples samples(PixelFormat::kI420, 5, 3);
  RgbImage image(5, 3);

  to_rgb(samples.view, image.pixels());

  const std::uint8_t u = samples.view.planes[1][samples.view.pitch_bytes[1] + 2];
  const std::uint8_t v = samples.view.planes[2][samples.view.pitch_bytes[2] + 2];
  const std::uint8_t y = samples.view.planes[0][2 * samples.view.pitch_bytes[0] + 4];
  const Rgb last = {image.at(4, 2)[0], image.at(4, 2)[1], image.at(4, 2)[2]};
  EXPECT_EQ(last, rgb_of({y, u, v}, ColorMatrix::kBt601, ColorRange::kLimited));
}

TEST(ToI420, PrimariesAsTheStandardGivesThem) {
  const struct {
    std::uint8_t r, g, b;
    Yuv yuv;
  } colors[] = {{0, 0, 0, {16, 128, 128}},
                {255, 255, 255, {235, 128, 128}},
                {255, 0, 0, {81, 90, 240}},
                {0, 255, 0, {145, 54, 34}},
                {0, 0, 255, {41, 240, 110}}};
  for (const auto& color : colors) {
    RgbImage image = test::flat(2, 2, color.r, color.g, color.b);
    std::array<std::uint8_t, 4> y{};
    std::uint8_t u = 0;
    std::uint8_t v = 0;

    to_i420(image.view(), {{y.data(), &u, &v}, {2, 1, 1}, 2, 2});

    EXPECT_EQ(y[3], color.yuv.y);
    EXPECT_EQ(u, color.yuv.u);
    EXPECT_EQ(v, color.yuv.v);
  }
}

TEST(ToI420, AnOddSizeRepeatsItsLastPixels) {
  RgbImage image = test::flat(3, 1, 255, 255, 255);
  image.at(2, 0)[0] = image.at(2, 0)[1] = image.at(2, 0)[2] = 0;
  std::array<std::uint8_t, 8> y{};
  std::array<std::uint8_t, 2> u{};
  std::array<std::uint8_t, 2> v{};

  to_i420(image.view(), {{y.data(), u.data(), v.data()}, {4, 2, 2}, 4, 2});

  EXPECT_EQ(y, (std::array<std::uint8_t, 8>{235, 235, 16, 16, 235, 235, 16, 16}));
  EXPECT_EQ(u, (std::array<std::uint8_t, 2>{128, 128}));
  EXPECT_EQ(v, (std::array<std::uint8_t, 2>{128, 128}));
}

}  // namespace
}  // namespace saccade
