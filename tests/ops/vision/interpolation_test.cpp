#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include "support/run_op.hpp"
#include "tensor/frame.hpp"

namespace saccade {
namespace {

/// As in interpolation_cases.py.
std::uint8_t noise(std::int64_t x, std::int64_t y, std::int64_t channel) {
  const std::int64_t value = (x * 73856093) ^ (y * 19349663) ^ (channel * 83492791);
  return static_cast<std::uint8_t>((value ^ (value >> 7)) % 256);
}

struct ResizeCase {
  std::string interpolation;
  std::string resize;
  std::int64_t resize_to = 0;
  std::int64_t source_width = 0;
  std::int64_t source_height = 0;
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::vector<int> samples;

  bool is_gray() const { return static_cast<std::int64_t>(samples.size()) == width * height; }
};

std::vector<ResizeCase> read_cases() {
  std::ifstream file(std::string(SACCADE_SOURCE) + "/tests/ops/vision/interpolation_cases.txt");
  std::vector<ResizeCase> cases;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    ResizeCase& made = cases.emplace_back();
    words >> made.interpolation >> made.resize >> made.resize_to >> made.source_width >> made.source_height >>
        made.width >> made.height;
    for (int sample = 0; words >> sample;) made.samples.push_back(sample);
  }
  return cases;
}

/// The tensor of CASE, gray or RGB, of pixels 0..255.
std::vector<float> preprocessed_noise(const ResizeCase& made) {
  const int channels = made.is_gray() ? 1 : 3;
  std::vector<std::uint8_t> pixels;
  for (std::int64_t y = 0; y < made.source_height; ++y)
    for (std::int64_t x = 0; x < made.source_width; ++x)
      for (int c = 0; c < channels; ++c) pixels.push_back(noise(x, y, c));
  FrameView view;
  view.format = channels == 1 ? PixelFormat::kGray8 : PixelFormat::kRgb24;
  view.width = static_cast<int>(made.source_width);
  view.height = static_cast<int>(made.source_height);
  view.planes[0] = pixels.data();
  view.pitch_bytes[0] = view.width * channels;
  Tensor frame(DType::kFrame, {});
  std::memcpy(frame.raw(), &view, sizeof view);
  test::AttributeList attributes = {{"width", made.width},
                                    {"height", made.height},
                                    {"resize", made.resize},
                                    {"interpolation", made.interpolation},
                                    {"color", std::string(channels == 1 ? "gray" : "rgb")}};
  if (made.resize_to > 0) attributes.emplace_back("resize_to", made.resize_to);
  return test::elements<float>(test::run_saccade_op("Preprocess", {frame}, 1, attributes)[0]);
}

TEST(Interpolation, IsPillowsAndOpenCvsWithinOneStep) {
  const std::vector<ResizeCase> cases = read_cases();
  ASSERT_GE(cases.size(), 140U);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const ResizeCase& made = cases[i];
    const std::vector<float> got = preprocessed_noise(made);
    // A classifier's case holds every third pixel of one channel.
    const std::int64_t step = made.is_gray() ? 1 : 3;
    const std::size_t plane = made.is_gray() ? 0 : i % 3;
    std::size_t next = 0;
    for (std::int64_t y = 0; y < made.height; y += step)
      for (std::int64_t x = 0; x < made.width; x += step) {
        const auto at = static_cast<std::size_t>((static_cast<std::int64_t>(plane) * made.height + y) * made.width + x);
        ASSERT_NEAR(got[at], static_cast<float>(made.samples.at(next++)), 1)
            << made.interpolation << ' ' << made.resize << ' ' << made.resize_to << ": " << made.source_width << 'x'
            << made.source_height << " to " << made.width << 'x' << made.height << " at " << x << ',' << y;
      }
    ASSERT_EQ(next, made.samples.size());
  }
}

/// A frame of one luma and noise as chroma, preprocessed. Its planes are halved, or enlarged by 2.
std::vector<float> preprocessed_chroma(bool halved, const std::string& interpolation) {
  constexpr int kSide = 24;
  std::array<std::vector<std::uint8_t>, 3> planes;
  planes[0].assign(4 * kSide * kSide, 128);
  const auto sample = [](int x, int y, int plane) {
    return noise(std::clamp(x, 0, kSide - 1), std::clamp(y, 0, kSide - 1), plane) / 4 + 96;
  };
  const int side = halved ? kSide : 2 * kSide;
  for (int plane : {1, 2}) {
    for (int y = 0; y < side; ++y)
      for (int x = 0; x < side; ++x) {
        const int odd_x = x % 2 == 0 ? -1 : 1;
        const int odd_y = y % 2 == 0 ? -1 : 1;
        const auto row = [&](int at) { return 3 * sample(x / 2, at, plane) + sample(x / 2 + odd_x, at, plane); };
        const int enlarged = (3 * row(y / 2) + row(y / 2 + odd_y) + 8) / 16;
        planes[static_cast<std::size_t>(plane)].push_back(
            static_cast<std::uint8_t>(halved ? sample(x, y, plane) : enlarged));
      }
  }
  FrameView view;
  view.format = halved ? PixelFormat::kI420 : PixelFormat::kI444;
  view.width = view.height = 2 * kSide;
  view.range = ColorRange::kFull;
  for (std::size_t i = 0; i < 3; ++i) {
    view.planes[i] = planes[i].data();
    view.pitch_bytes[i] = i == 0 ? 2 * kSide : side;
  }
  Tensor frame(DType::kFrame, {});
  std::memcpy(frame.raw(), &view, sizeof view);
  return test::elements<float>(test::run_saccade_op("Preprocess", {frame}, 1,
                                                    {{"width", std::int64_t{17}},
                                                     {"height", std::int64_t{11}},
                                                     {"resize", std::string("stretch")},
                                                     {"interpolation", interpolation}})[0]);
}

TEST(Interpolation, FiltersHalvedChromaAsItsPixelsWouldBe) {
  for (const char* kind : {"bilinear-antialias", "bicubic-antialias", "bicubic", "area"}) {
    const std::vector<float> halved = preprocessed_chroma(true, kind);
    const std::vector<float> whole = preprocessed_chroma(false, kind);
    for (std::size_t i = 0; i < whole.size(); ++i) ASSERT_NEAR(halved[i], whole[i], 3) << kind << ' ' << i;
  }
}

TEST(Interpolation, RefusesAnUnknownKind) {
  EXPECT_THROW(preprocessed_noise({"lanczos", "stretch", 0, 4, 4, 2, 2, {0, 0, 0, 0}}), Error);
}

}  // namespace
}  // namespace saccade
