#include "media/v4l2/modes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "media/v4l2/camera_rig.hpp"

namespace saccade::v4l2 {
namespace {

using ::testing::ElementsAre;

constexpr std::uint32_t kYuyv = V4L2_PIX_FMT_YUYV;
constexpr std::uint32_t kMjpeg = V4L2_PIX_FMT_MJPEG;

Mode mode(std::string_view format, int width, int height, std::uint32_t rate) {
  return {find_format(format), width, height, rate == 0 ? FrameInterval{} : FrameInterval{1, rate}};
}

std::vector<std::string> modes_in(test::FakeCamera camera, const std::string& options = {}) {
  test::FakeCalls calls(std::move(camera));
  const int device = calls.open(test::FakeCalls::kNode);
  std::vector<std::string> texts;
  for (const Mode& each : modes_of(calls, device, parse_camera("0" + options))) texts.push_back(to_string(each));
  calls.close(device);
  return texts;
}

test::FakeCamera with_formats(std::vector<test::FakeFormat> formats) {
  test::FakeCamera camera;
  camera.formats = std::move(formats);
  return camera;
}

bool has(const std::vector<std::string>& texts, const std::string& text) {
  return std::ranges::find(texts, text) != texts.end();
}

TEST(Modes, AreThoseThatTheDriverLists) {
  EXPECT_THAT(modes_in(with_formats({{kYuyv, {{640, 480, {{1, 30}, {1, 15}}, {}}, {1280, 720, {{1, 10}}, {}}}, {}},
                                     {V4L2_PIX_FMT_H264, {{640, 480, {{1, 30}}, {}}}, {}},
                                     {kMjpeg, {{640, 480, {{1001, 30000}}, {}}}, {}}})),
              ElementsAre("640x480 YUYV at 30 fps", "640x480 YUYV at 15 fps", "1280x720 YUYV at 10 fps",
                          "640x480 MJPEG at 29.97 fps"));
}

TEST(Modes, WithoutRatesAreOfUnknownRate) {
  EXPECT_THAT(modes_in(with_formats({{kYuyv, {{640, 480, {}, {}}}, {}}})), ElementsAre("640x480 YUYV"));
}

TEST(Modes, WithoutSizesHaveTheOneThatIsSet) {
  EXPECT_THAT(modes_in(with_formats({{kYuyv, {}, {}}})), ElementsAre("640x480 YUYV"));
}

TEST(Modes, OfARangeOfSizesAreUsualOnesThoseOfTheUriAndTheLargest) {
  const v4l2_frmsize_stepwise steps = {320, 1400, 8, 240, 1050, 2};
  const auto formats = with_formats({{kYuyv, {{640, 480, {{1, 30}}, {}}}, steps}});
  EXPECT_THAT(modes_in(formats),
              ElementsAre("320x240 YUYV at 30 fps", "640x360 YUYV at 30 fps", "640x480 YUYV at 30 fps",
                          "800x600 YUYV at 30 fps", "1280x720 YUYV at 30 fps", "1280x960 YUYV at 30 fps",
                          "1400x1050 YUYV at 30 fps"));
  EXPECT_TRUE(has(modes_in(formats, "?size=328x242"), "328x242 YUYV at 30 fps"));
  EXPECT_FALSE(has(modes_in(formats, "?size=330x242"), "330x242 YUYV at 30 fps")) << "between two steps";
}

TEST(Modes, OfARangeHaveTheLargestThatIsAStep) {
  const v4l2_frmsize_stepwise steps = {80, 200, 16, 60, 150, 7};
  EXPECT_THAT(modes_in(with_formats({{kYuyv, {{80, 60, {{1, 9}}, {}}}, steps}})), ElementsAre("192x144 YUYV at 9 fps"));
}

TEST(Modes, OfAContinuousRangeOfRatesAreUsualOnesAndThatOfTheUri) {
  const v4l2_frmival_stepwise rates = {{1, 60}, {1, 5}, {0, 0}};
  const auto formats = with_formats({{kYuyv, {{640, 480, {}, rates}}, {}}});
  EXPECT_THAT(modes_in(formats),
              ElementsAre("640x480 YUYV at 60 fps", "640x480 YUYV at 50 fps", "640x480 YUYV at 30 fps",
                          "640x480 YUYV at 25 fps", "640x480 YUYV at 15 fps", "640x480 YUYV at 10 fps"));
  EXPECT_TRUE(has(modes_in(formats, "?fps=7.5"), "640x480 YUYV at 7.5 fps"));
  EXPECT_FALSE(has(modes_in(formats, "?fps=4"), "640x480 YUYV at 4 fps"));
}

TEST(Modes, OfADriverThatCountsForEverEnd) {
  std::vector<test::FakeSize> sizes(5000);
  for (std::uint32_t i = 0; i < sizes.size(); ++i) sizes[i].width = 2 + i;
  EXPECT_LE(modes_in(with_formats({{kYuyv, sizes, {}}})).size(), 1024U);
}

TEST(Modes, WithoutPixelsAreNone) {
  EXPECT_THAT(modes_in(with_formats({{kYuyv, {{0, 480}, {640, 0}, {100'000, 2}}, {}}})), ElementsAre());
}

TEST(IsWanted, ComparesWhatTheUriSays) {
  const auto wanted = [](const Mode& each, const char* options) {
    return is_wanted(each, parse_camera(std::string("0?") + options));
  };
  const Mode vga = mode("YUYV", 640, 480, 30);
  EXPECT_TRUE(wanted(vga, "size=640x480&fps=30&format=YUYV"));
  EXPECT_FALSE(wanted(vga, "size=640x360"));
  EXPECT_FALSE(wanted(vga, "size=480x640"));
  EXPECT_FALSE(wanted(vga, "format=MJPEG"));
  EXPECT_FALSE(wanted(vga, "fps=25"));
  EXPECT_TRUE(wanted(vga, "fps=29.97"));
  EXPECT_FALSE(wanted(vga, "fps=29.5"));
  EXPECT_TRUE(wanted(mode("YUYV", 640, 480, 0), "fps=25")) << "unknown: the driver may have it";
}

struct BestCase {
  const char* why;
  std::vector<Mode> modes;
  int best;
  ModelSize model = {640, 640};
};

TEST(BestMode, IsTheOneWithTheFewestPoints) {
  const BestCase cases[] = {
      {"the faster one", {mode("YUYV", 640, 480, 15), mode("YUYV", 640, 480, 30)}, 1},
      {"more than 60 is worth nothing", {mode("YUYV", 640, 480, 60), mode("YUYV", 640, 480, 120)}, 0},
      {"the size of the model", {mode("YUYV", 320, 240, 30), mode("YUYV", 640, 480, 30)}, 1},
      {"no larger than that, for the bus", {mode("YUYV", 1920, 1080, 30), mode("YUYV", 640, 480, 30)}, 1},
      {"a small model", {mode("YUYV", 640, 480, 30), mode("YUYV", 320, 240, 30)}, 1, {224, 224}},
      {"a wide frame is fitted", {mode("YUYV", 480, 480, 30), mode("YUYV", 640, 360, 30)}, 1},
      {"raw before JPEG where both are fast", {mode("MJPEG", 640, 480, 30), mode("NV12", 640, 480, 30)}, 1},
      {"JPEG where raw is slow", {mode("YUYV", 1280, 720, 10), mode("MJPEG", 1280, 720, 30)}, 1},
      {"less on the bus", {mode("YUYV", 640, 480, 30), mode("NV12", 640, 480, 30)}, 1},
      {"colour", {mode("GREY", 640, 480, 60), mode("YUYV", 640, 480, 30)}, 1},
      {"grey where it is all", {mode("GREY", 640, 480, 15), mode("GREY", 640, 480, 30)}, 1},
      {"a known rate", {mode("YUYV", 640, 480, 0), mode("YUYV", 640, 480, 25)}, 1},
      {"the first of equal ones", {mode("YUYV", 640, 480, 30), mode("UYVY", 640, 480, 30)}, 0},
      {"the first of equal ones", {mode("UYVY", 640, 480, 30), mode("YUYV", 640, 480, 30)}, 0},
  };
  for (const BestCase& each : cases) {
    const Mode& best = best_mode(each.modes, each.model);
    EXPECT_EQ(&best - each.modes.data(), each.best) << each.why << ": " << to_string(best);
  }
}

TEST(CameraScore, HasItsParts) {
  const CameraScore ideal = score_of(mode("NV12", 640, 640, 60), {640, 640});
  EXPECT_EQ(ideal.rate, 0);
  EXPECT_EQ(ideal.size, 0);
  EXPECT_EQ(ideal.conversion, 0);
  EXPECT_NEAR(ideal.bus, 5 * 1.5 * 640 * 640 * 60 / 100e6, 1e-9);
  EXPECT_NEAR(score_of(mode("YUYV", 640, 480, 15), {640, 640}).rate, 20, 1e-9);
  EXPECT_EQ(score_of(mode("YUYV", 640, 480, 0), {640, 640}).rate, score_of(mode("YUYV", 640, 480, 15), {}).rate);
  EXPECT_NEAR(score_of(mode("YUYV", 320, 240, 30), {640, 640}).size, 30, 1e-9);
  EXPECT_NEAR(score_of(mode("YUYV", 2560, 1440, 30), {640, 640}).size, 4, 1e-9);
  EXPECT_NEAR(score_of(mode("MJPEG", 1000, 1000, 50), {640, 640}).conversion, 4, 1e-9);
  EXPECT_EQ(score_of(mode("GREY", 640, 480, 30), {640, 640}).conversion, 30);
}

}  // namespace
}  // namespace saccade::v4l2
