#include "media/v4l2/controls.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "media/v4l2/camera_rig.hpp"

namespace saccade::v4l2 {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::StartsWith;

enum : std::uint32_t { kBrightness = 1, kAuto, kMenu, kLine, kFocus, kReset, kMask, kLong, kText, kOff };

test::FakeCamera with_controls() {
  test::FakeCamera camera;
  const auto add = [&](auto... arguments) -> test::FakeControl& {
    return camera.controls.emplace_back(test::fake_control(arguments...));
  };
  add(kBrightness, V4L2_CTRL_TYPE_INTEGER, "Brightness", -64, 64);
  add(kAuto, V4L2_CTRL_TYPE_BOOLEAN, "White Balance, Automatic", 0, 1);
  add(kMenu, V4L2_CTRL_TYPE_MENU, "Auto Exposure", 0, 3).names = {{1, "Manual Mode"}, {3, "Aperture Priority Mode"}};
  add(kLine, V4L2_CTRL_TYPE_INTEGER_MENU, "Link Frequency", 0, 1).numbers = {{0, 400}, {1, 800}};
  add(kFocus, V4L2_CTRL_TYPE_INTEGER, "Focus, Absolute", 0, 250, V4L2_CTRL_FLAG_READ_ONLY);
  add(kReset, V4L2_CTRL_TYPE_BUTTON, "Reset", 0, 0);
  add(kMask, V4L2_CTRL_TYPE_BITMASK, "Events", 7, 7);
  add(kLong, V4L2_CTRL_TYPE_INTEGER64, "Pixel Rate", 0, std::int64_t{1} << 40);
  add(kText, V4L2_CTRL_TYPE_STRING, "Label", 0, 9);
  add(kOff, V4L2_CTRL_TYPE_INTEGER, "Gone", 0, 9, V4L2_CTRL_FLAG_DISABLED);
  return camera;
}

/// The values that a camera has after it was opened with OPTIONS.
std::map<std::uint32_t, std::int64_t> values_after(const std::string& options) {
  const test::CameraRig rig(with_controls(), "0?" + options);
  return rig.camera->control_values;
}

std::string control_refusal(const std::string& options, test::FakeCamera camera = with_controls()) {
  return test::refusal_of([&] { const test::CameraRig rig(std::move(camera), "0?" + options); });
}

TEST(CameraControls, AreListed) {
  const auto calls = std::make_shared<test::FakeCalls>(with_controls());
  const Device device(calls, test::FakeCalls::kNode);
  const std::vector<Control> controls = controls_of(device);
  std::vector<std::string> texts;
  for (const Control& control : controls) texts.push_back(control.name + ": " + valid_values(control));
  EXPECT_THAT(texts, ElementsAre("brightness: from -64 to 64", "white_balance_automatic: 0 or 1",
                                 "auto_exposure: one of manual_mode (1), aperture_priority_mode (3)",
                                 "link_frequency: one of 400 (0), 800 (1)", "focus_absolute: from 0 to 250", "reset: 1",
                                 "events: from 0 to 7", "pixel_rate: from 0 to 1099511627776"));
  EXPECT_TRUE(controls[4].is_read_only);
  EXPECT_FALSE(controls[0].is_read_only);
}

TEST(CameraControls, AreSetByNumberOrName) {
  EXPECT_THAT(values_after("brightness=-64"), ElementsAre(Pair(kBrightness, -64)));
  EXPECT_THAT(values_after("white_balance_automatic=on"), ElementsAre(Pair(kAuto, 1)));
  EXPECT_THAT(values_after("white_balance_automatic=false"), ElementsAre(Pair(kAuto, 0)));
  EXPECT_THAT(values_after("auto_exposure=manual_mode"), ElementsAre(Pair(kMenu, 1)));
  EXPECT_THAT(values_after("auto_exposure=Manual Mode"), ElementsAre(Pair(kMenu, 1)));
  EXPECT_THAT(values_after("auto_exposure=3"), ElementsAre(Pair(kMenu, 3)));
  EXPECT_THAT(values_after("link_frequency=800"), ElementsAre(Pair(kLine, 1)));
  EXPECT_THAT(values_after("reset=1"), ElementsAre(Pair(kReset, 1)));
  EXPECT_THAT(values_after("events=5"), ElementsAre(Pair(kMask, 5)));
  EXPECT_THAT(values_after("pixel_rate=1099511627776"), ElementsAre(Pair(kLong, std::int64_t{1} << 40)));
  EXPECT_THAT(values_after("brightness=1&events=2"), ElementsAre(Pair(kBrightness, 1), Pair(kMask, 2)));
}

TEST(CameraControls, RefuseOtherValues) {
  for (const char* wrong : {"brightness=65", "brightness=-65", "brightness=x", "brightness=", "brightness=1.5",
                            "brightness=99999999999999999999", "white_balance_automatic=2", "auto_exposure=0",
                            "auto_exposure=2", "auto_exposure=shutter", "auto_exposure=", "link_frequency=401",
                            "reset=now", "events=8", "events=-1", "pixel_rate=-1"})
    EXPECT_THAT(control_refusal(wrong),
                AllOf(StartsWith("invalid argument: /dev/video0 (HD Webcam): '"), HasSubstr(" must be ")))
        << wrong;
}

TEST(CameraControls, ThatCannotBeSetAreNamed) {
  EXPECT_EQ(control_refusal("focus_absolute=3"),
            "invalid argument: /dev/video0 (HD Webcam): the control 'focus_absolute' can only be read");
  EXPECT_EQ(control_refusal("zoom=3"),
            "invalid argument: /dev/video0 (HD Webcam) has no option or control 'zoom'; the options are size, fps, "
            "format, io and buffers, and its controls are brightness, white_balance_automatic, auto_exposure, "
            "link_frequency, reset, events, pixel_rate");
  EXPECT_THAT(control_refusal("gone=3"), HasSubstr("no option or control 'gone'"));
  EXPECT_THAT(control_refusal("label=3"), HasSubstr("no option or control 'label'"));
  EXPECT_THAT(control_refusal("zoom=3", {}), HasSubstr("buffers, and it has no controls"));
}

TEST(CameraControls, ThatTheCameraRefusesSayWhy) {
  test::FakeCamera camera = with_controls();
  camera.controls[0].refusal = -EBUSY;
  EXPECT_EQ(control_refusal("brightness=1", camera),
            "device: /dev/video0 (HD Webcam): brightness=1 is refused: Device or resource busy");
}

TEST(CameraControls, OfADriverThatBeginsAgainEnd) {
  test::FakeCamera camera;
  camera.controls.push_back(test::fake_control(5, V4L2_CTRL_TYPE_INTEGER, "A", 0, 9));
  camera.controls.push_back(test::fake_control(V4L2_CTRL_FLAG_NEXT_CTRL | 1, V4L2_CTRL_TYPE_INTEGER, "B", 0, 9));
  const auto calls = std::make_shared<test::FakeCalls>(std::move(camera));
  const Device device(calls, test::FakeCalls::kNode);
  EXPECT_LE(controls_of(device).size(), 2U);
}

}  // namespace
}  // namespace saccade::v4l2
