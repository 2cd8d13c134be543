#include <fcntl.h>
#include <unistd.h>

#include <thread>

#include "base/error.hpp"
#include "cameras/vivid.hpp"

namespace saccade {
namespace {

using std::chrono::seconds;
using test::Streaming;
using test::Vivid;

// The bounds of recovery hold for real time: with a margin for an emulated processor.
constexpr double kBound = 3;  // seconds

void expect_recovery(const char* fault, std::chrono::duration<double> time) {
  fmt::print("{}: frames again after {:.2f} s\n", fault, time.count());
  EXPECT_LT(time.count(), kBound) << fault;
}

TEST_F(Vivid, DroppedBuffersAreLost) {
  Streaming camera(kSmall);
  camera.skip(5);
  set("percentage_of_dropped_buffers", "30");
  camera.skip(60);
  set("percentage_of_dropped_buffers", "0");
  EXPECT_GT(camera.stop().lost, 5);
}

TEST_F(Vivid, AFrameWithTheErrorFlagIsCorrupt) {
  Streaming camera(kSmall);
  camera.skip(5);
  set("inject_v4l2_buf_flag_error", "1");
  camera.skip(20);
  EXPECT_EQ(camera.stop().corrupt, 1);
}

TEST_F(Vivid, ARefusedBufferIsQueuedAgain) {
  Streaming camera(kSmall);
  camera.skip(5);
  set("inject_vidioc_qbuf_error", "1");
  camera.skip(20);
  EXPECT_EQ(camera.faults().refused_buffers, 1);
  EXPECT_EQ(camera.stop().corrupt, 0);
}

TEST_F(Vivid, AStreamThatFailsIsStartedAgain) {
  Streaming camera(kSmall);
  camera.skip(5);
  set("inject_fatal_streaming_error", "1");
  expect_recovery("streaming error", camera.until_next());
  EXPECT_EQ(camera.faults().restarts, 1);
  camera.skip(5);
}

TEST_F(Vivid, AStreamThatCannotStartIsAnError) {
  set("inject_vidioc_streamon_error", "1");
  const auto camera = v4l2::open_camera(kSmall);
  FramePool pool(4);
  const Outcome<Frame> frame = camera->read(pool);
  ASSERT_FALSE(frame);
  EXPECT_EQ(frame.failure().status, Status::kLost);
  EXPECT_NE(frame.failure().message.find("/dev/video0 (vivid): it can't stream"), std::string::npos)
      << frame.failure().message;
}

TEST_F(Vivid, RefusedBuffersAreAnErrorAtStart) {
  set("inject_vidioc_reqbufs_error", "1");
  EXPECT_THROW(v4l2::open_camera(kSmall), Error);
}

TEST_F(Vivid, FrameNumbersContinueWhereTheDriversWrap) {
  set("wrap_sequence_number", "1");
  Streaming camera(kSmall);
  std::int64_t last = -1;
  for (int i = 0; i < 160; ++i) {
    const Frame frame = camera.next();
    EXPECT_GT(frame.sequence, last);
    EXPECT_LT(frame.sequence, last + 100);
    last = frame.sequence;
    ASSERT_FALSE(HasFailure());
  }
  camera.stop();
  set("wrap_sequence_number", "0");
}

TEST_F(Vivid, TimesThatWrapAreReplaced) {
  set("wrap_timestamp", "64_bit");
  Streaming camera(kSmall);
  camera.skip(60);
  const Frame frame = camera.next();
  EXPECT_LE(*frame.exposed, frame.captured);
  EXPECT_GT(*frame.exposed, frame.captured - seconds(2));
  camera.stop();
  set("wrap_timestamp", "none");
}

/// The driver stamps the end of a frame before it is there.
TEST_F(Vivid, TimesAheadOfTheArrivalAreReplaced) {
  Streaming camera("/dev/video0?size=320x180&fps=50&format=YUYV&timestamp_source=0");
  for (int i = 0; i < 20; ++i) {
    const Frame frame = camera.next();
    ASSERT_TRUE(frame.exposed);
    EXPECT_LE(*frame.exposed, frame.captured);
  }
  camera.stop();
  EXPECT_GT(camera.faults().replaced_timestamps, 0);
}

TEST_F(Vivid, ADisconnectedCameraIsOpenedAgain) {
  Streaming camera(kSmall);
  camera.skip(5);
  set("disconnect", "1");
  expect_recovery("disconnected", camera.until_next());
  EXPECT_EQ(camera.faults().unplugged, 1);
  camera.skip(5);
}

TEST_F(Vivid, AnUnpluggedCameraIsWaitedFor) {
  Streaming camera(kSmall);
  camera.skip(5);
  driver("unbind");
  std::this_thread::sleep_for(seconds(2));
  EXPECT_EQ(camera.stream().state(), StreamState::kConnecting);
  driver("bind");
  expect_recovery("plugged in again", camera.until_next());
  EXPECT_EQ(camera.faults().unplugged, 1);
  const Outages outages = camera.stream().outages();
  EXPECT_EQ(outages.count, 1);
  EXPECT_GT(outages.duration, seconds(2));
  // 50 a second.
  EXPECT_GT(outages.missed, 90);
}

/// A program that still has the old device open keeps its number.
TEST_F(Vivid, AnUnpluggedCameraIsFoundUnderAnotherNumber) {
  auto camera = std::make_unique<Streaming>(kSmall);
  camera->skip(5);
  const int other = open(kWebcam, O_RDWR);
  ASSERT_GE(other, 0);
  driver("unbind");
  driver("bind");
  EXPECT_NE(access(kWebcam, F_OK), 0);
  expect_recovery("under another number", camera->until_next());
  camera.reset();
  close(other);
}

TEST_F(Vivid, ASignalOfAnotherFormatIsFollowed) {
  set("dv_timings_signal_mode", "selected_dv_timings", kHdmi);
  Streaming camera("/dev/video1?format=YUYV&size=640x480");
  camera.skip(3);
  set("dv_timings", "5", kHdmi);  // 1280x720p24
  expect_recovery("another format", camera.until_next());
  EXPECT_EQ(camera.faults().format_changes, 1);
  camera.stop();
  set("dv_timings_signal_mode", "current_dv_timings", kHdmi);
}

TEST_F(Vivid, CancellingEndsAWaitingRead) {
  Streaming camera(kSmall);
  camera.skip(3);
  driver("unbind");
  std::this_thread::sleep_for(seconds(1));
  const auto start = Clock::now();
  camera.stop();
  EXPECT_LT(Clock::now() - start, seconds(1));
  driver("bind");
}

}  // namespace
}  // namespace saccade
