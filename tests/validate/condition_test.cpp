#include "validate/condition.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "pipeline/model/frame_pool.hpp"
#include "saccade/error.hpp"
#include "validate/data.hpp"
#include "validate/data_image_reader.hpp"

namespace saccade {
namespace {

constexpr int kWidth = 96;
constexpr int kHeight = 64;
constexpr int kPitch = 3 * kWidth + 5;

/// A grey ramp with a bright square.
std::vector<std::uint8_t> image() {
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(kPitch * kHeight), 7);
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < 3 * kWidth; ++x)
      pixels[static_cast<std::size_t>(y * kPitch + x)] =
          static_cast<std::uint8_t>(x / 3 > 40 && x / 3 < 60 && y > 20 && y < 40 ? 250 : 60 + x / 3);
  return pixels;
}

RgbView view(std::vector<std::uint8_t>& pixels) { return {pixels.data(), kPitch, kWidth, kHeight}; }

std::vector<std::uint8_t> under(const std::string& name, std::uint64_t seed = 1) {
  std::vector<std::uint8_t> pixels = image();
  find_condition(name).apply(view(pixels), seed);
  return pixels;
}

double mean(const std::vector<std::uint8_t>& pixels) {
  double sum = 0;
  for (int y = 0; y < kHeight; ++y)
    sum += std::accumulate(pixels.begin() + y * kPitch, pixels.begin() + y * kPitch + 3 * kWidth, 0.0);
  return sum / (3 * kWidth * kHeight);
}

/// Mean squared difference of horizontal neighbours.
double sharpness(const std::vector<std::uint8_t>& pixels) {
  double sum = 0;
  for (int y = 0; y < kHeight; ++y)
    for (int x = 3; x < 3 * kWidth; ++x) {
      const double step = static_cast<double>(pixels[static_cast<std::size_t>(y * kPitch + x)]) -
                          pixels[static_cast<std::size_t>(y * kPitch + x - 3)];
      sum += step * step;
    }
  return sum;
}

TEST(Conditions, AreTheSameEachTimeAndStayInTheImage) {
  for (const Condition& condition : conditions()) {
    SCOPED_TRACE(condition.name);
    const std::string name(condition.name);
    const std::vector<std::uint8_t> once = under(name);
    EXPECT_EQ(once, under(name));
    EXPECT_NE(once, image());
    for (int y = 0; y < kHeight; ++y)
      for (int x = 3 * kWidth; x < kPitch; ++x) ASSERT_EQ(once[static_cast<std::size_t>(y * kPitch + x)], 7);
    EXPECT_FALSE(condition.strength.empty());
  }
  for (const char* name : {"night", "noise", "rain"}) EXPECT_NE(under(name, 1), under(name, 2)) << name;
}

TEST(Conditions, DoWhatTheirNamesSay) {
  const double clean = mean(image());
  EXPECT_LT(mean(under("night")), clean / 2);
  EXPECT_NEAR(mean(under("blur")), clean, 1);
  EXPECT_LT(sharpness(under("blur")), sharpness(image()) / 2);
  EXPECT_NEAR(mean(under("noise")), clean, 1);
  EXPECT_GT(sharpness(under("noise")), 2 * sharpness(image()));
  EXPECT_NEAR(mean(under("low-contrast")), clean, 1);
  EXPECT_NEAR(sharpness(under("low-contrast")), 0.09 * sharpness(image()), 0.02 * sharpness(image()));
  EXPECT_NEAR(mean(under("jpeg")), clean, 4);
  EXPECT_GT(mean(under("rain")), clean);
}

TEST(Conditions, NoiseHasTheDeviationThatItSays) {
  std::vector<std::uint8_t> grey(static_cast<std::size_t>(kPitch * kHeight), 128);
  find_condition("noise").apply(view(grey), 3);
  double squares = 0;
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < 3 * kWidth; ++x) {
      const double off = static_cast<double>(grey[static_cast<std::size_t>(y * kPitch + x)]) - 128;
      squares += off * off;
    }
  EXPECT_NEAR(std::sqrt(squares / (3 * kWidth * kHeight)), 25, 1);
}

TEST(Conditions, WorkOnTheSmallestImage) {
  for (const Condition& condition : conditions()) {
    std::vector<std::uint8_t> pixel = {10, 20, 30};
    condition.apply({pixel.data(), 3, 1, 1}, 1);
  }
}

TEST(Conditions, AnImageThatOneCannotBeAppliedToIsNamed) {
  const test::TempFolder folder;
  test::write_solid_image(folder, "wide.png", 65501, 1);
  const auto reader = open_data_images("data", {{.file = folder / "wide.png", .said_by = {}}}, &find_condition("jpeg"));
  FramePool pool(2);
  const Outcome<Frame> frame = reader->read(pool);
  ASSERT_FALSE(frame);
  EXPECT_EQ(frame.failure().status, Status::kLost);
  EXPECT_NE(frame.failure().message.find(folder / "wide.png"), std::string::npos) << frame.failure().message;
  EXPECT_NE(frame.failure().message.find("65500"), std::string::npos) << frame.failure().message;
}

TEST(Conditions, AnUnknownOneIsNamedWithTheKnownOnes) {
  try {
    find_condition("fog");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("'fog'"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("low-contrast"), std::string::npos);
  }
}

}  // namespace
}  // namespace saccade
