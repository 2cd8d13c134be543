#include <array>
#include <map>

#include "base/error.hpp"
#include "cameras/recording_calls.hpp"
#include "cameras/vivid.hpp"
#include "media/convert.hpp"

namespace saccade {
namespace {

using test::Vivid;

using Rgb = std::array<int, 3>;

/// The colours of FRAME in the middle of each of the test pattern's eight bars.
std::vector<Rgb> bars_of(const Frame& frame) {
  const FrameView& view = frame.view;
  std::vector<std::uint8_t> pixels(3 * static_cast<std::size_t>(view.width) * static_cast<std::size_t>(view.height));
  to_rgb(view, {pixels.data(), 3 * view.width, view.width, view.height});
  std::vector<Rgb> bars;
  for (int bar = 0; bar < 8; ++bar) {
    const int x = view.width * (2 * bar + 1) / 16;
    const std::uint8_t* pixel = &pixels[3 * static_cast<std::size_t>(view.height / 2 * view.width + x)];
    bars.push_back({pixel[0], pixel[1], pixel[2]});
  }
  return bars;
}

Frame first_frame(const std::string& uri, FramePool& pool) {
  const auto camera = v4l2::open_camera(uri);
  // Lasts longer than the reader.
  Outcome<Frame> frame = camera->read(pool);
  EXPECT_TRUE(frame) << uri;
  return frame ? std::move(*frame) : Frame();
}

class Formats : public Vivid, public ::testing::WithParamInterface<const char*> {};

TEST_P(Formats, ShowTheColorsOfThePatternByBothWaysOfTransfer) {
  constexpr std::array<Rgb, 8> kBars = {
      {{255, 255, 255}, {255, 255, 0}, {0, 255, 255}, {0, 255, 0}, {255, 0, 255}, {255, 0, 0}, {0, 0, 255}, {0, 0, 0}}};
  constexpr int kTolerance = 6;  // two roundings, and the driver's own arithmetic
  const bool is_gray = std::string_view(GetParam()) == "GREY";
  for (const char* io : {"mmap", "userptr"}) {
    FramePool pool(6);
    const Frame frame = first_frame(
        fmt::format("/dev/video0?size=640x360&format={}&io={}&test_pattern=1&osd_text_mode=2&brightness=128",
                    GetParam(), io),
        pool);
    ASSERT_EQ(frame.view.width, 640);
    const std::vector<Rgb> bars = bars_of(frame);
    for (std::size_t bar = 0; bar < kBars.size(); ++bar) {
      const Rgb& rgb = kBars[bar];
      // The driver's grey is BT.709's luma in full range.
      const int luma = (2126 * rgb[0] + 7152 * rgb[1] + 722 * rgb[2]) / 10'000;
      for (std::size_t c = 0; c < 3; ++c)
        EXPECT_NEAR(bars[bar][c], is_gray ? luma : rgb[c], kTolerance) << GetParam() << ", " << io << ", bar " << bar;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Formats,
                         ::testing::Values("YUYV", "UYVY", "NV12", "YU12", "422P", "RGB24", "BGR24", "GREY", "RGGB",
                                           "GRBG", "GBRG", "BGGR"));

TEST_F(Vivid, MappedFramesLieInTheDriversBuffers) {
  const auto calls = std::make_shared<test::RecordingCalls>();
  const auto camera = v4l2::open_camera(std::string(kSmall) + "&io=mmap&buffers=3", {}, calls);
  FramePool pool(4);
  for (int i = 0; i < 12; ++i) {
    const Outcome<Frame> frame = camera->read(pool);
    ASSERT_TRUE(frame);
    EXPECT_TRUE(calls->has_mapped(frame->view.planes[0]));
  }
  EXPECT_EQ(pool.bytes(), 0);
}

TEST_F(Vivid, TheDriverFillsThePoolsBuffersByUserptr) {
  const auto calls = std::make_shared<test::RecordingCalls>();
  const auto camera = v4l2::open_camera(std::string(kSmall) + "&io=userptr&buffers=3", {}, calls);
  FramePool pool(static_cast<std::size_t>(camera->held_buffers()) + 2);
  for (int i = 0; i < 12; ++i) {
    const Outcome<Frame> frame = camera->read(pool);
    ASSERT_TRUE(frame);
    EXPECT_EQ(reinterpret_cast<const std::byte*>(frame->view.planes[0]), frame->lease.buffer().data);
    EXPECT_FALSE(calls->has_mapped(frame->view.planes[0]));
  }
  EXPECT_GT(pool.bytes(), 0);
  camera->cancel();
}

TEST_F(Vivid, NumbersAndTimesAreTheDrivers) {
  const auto calls = std::make_shared<test::RecordingCalls>();
  test::Streaming camera(kSmall, calls);
  const int frames = is_long() ? 10'000 : 200;
  for (int i = 0; i < frames; ++i) {
    const Frame frame = camera.next();
    ASSERT_TRUE(frame.exposed);
    EXPECT_LE(*frame.exposed, frame.captured - frame.capture_time);
    EXPECT_EQ(frame.timestamp_ns, frame.exposed->time_since_epoch().count());
    EXPECT_EQ(frame.timestamp_ns, calls->time_of(frame.sequence));
    ASSERT_FALSE(HasFailure()) << "frame " << frame.sequence;
  }
  const Ledger ledger = camera.stop();
  EXPECT_EQ(ledger.processed, frames);
  EXPECT_EQ(camera.faults().replaced_timestamps, 0);
  fmt::print("{} captured = {} processed + {} dropped + {} lost\n", ledger.captured, ledger.processed, ledger.dropped(),
             ledger.lost);
}

TEST_F(Vivid, AFrameIsReadableAfterItsCameraIsUnplugged) {
  auto camera = v4l2::open_camera(std::string(kSmall) + "&test_pattern=7&osd_text_mode=2");
  FramePool pool(4);
  Outcome<Frame> frame = camera->read(pool);
  ASSERT_TRUE(frame);
  driver("unbind");
  camera.reset();
  EXPECT_NEAR(bars_of(*frame)[4][0], 255, 6);
  driver("bind");
}

TEST_F(Vivid, ControlsAreSet) {
  const auto camera = v4l2::open_camera(std::string(kSmall) + "&brightness=77&menu=menu_item_4");
  const v4l2::Device beside(v4l2::linux_calls(), kWebcam);
  std::map<std::string, std::int64_t> values;
  for (const v4l2::Control& control : v4l2::controls_of(beside))
    values[control.name] = v4l2::value_now(beside, control);
  EXPECT_EQ(values["brightness"], 77);
  EXPECT_EQ(values["menu"], 4);
}

TEST_F(Vivid, ACameraInUseIsRefused) {
  const auto camera = v4l2::open_camera(kSmall);
  FramePool pool(4);
  ASSERT_TRUE(camera->read(pool));
  try {
    v4l2::open_camera(kWebcam);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "/dev/video0 (vivid) is in use by another program: end that");
  }
}

}  // namespace
}  // namespace saccade
