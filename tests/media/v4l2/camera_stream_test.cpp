#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "media/v4l2/camera_rig.hpp"
#include "pipeline/stream/stream.hpp"

namespace saccade::v4l2 {
namespace {

using std::chrono::seconds;
using test::FakeCalls;
using test::FakeCamera;
using test::FakeFrame;
using ::testing::HasSubstr;

/// What is left of a stream after its end.
struct StreamEnd {
  Ledger ledger;
  Outages outages;
  SourceFaults faults;
  FakeCamera::Truth truth;
  std::string fault;
  std::string log;
};

/// A stream of COUNT frames of CAMERA, all of which are processed: the queue waits. PREPARE changes what happens.
StreamEnd stream_of(FakeCamera fake, int count, const std::function<void(FakeCalls&)>& prepare = {},
                    const std::string& uri = "0") {
  const auto calls = std::make_shared<FakeCalls>(std::move(fake));
  const auto camera = calls->share();
  const auto reader = open_camera(uri, {}, calls);
  if (prepare) prepare(*calls);
  test::PageMemory memory;
  BoundedQueue<Frame> queue({{DropPolicy::kWait, 1}});
  StreamEnd end;
  testing::internal::CaptureStderr();
  {
    Stream stream(*reader, queue, {.buffers = 6, .max_frames = count, .memory = &memory});
    Frame frame;
    std::size_t lane = 0;
    while (queue.pop(frame, lane, Clock::time_point::max()) == PopStatus::kItem) {
      // Every sample is of one frame, before and after it was held.
      const std::uint8_t first = frame.view.planes[0][0];
      const std::ptrdiff_t last = std::ptrdiff_t{frame.view.pitch_bytes[0]} * frame.view.height - 1;
      EXPECT_NE(first, FakeCamera::kPoison);
      EXPECT_EQ(frame.view.planes[0][last], first);
      frame = Frame();
      stream.ledger().process();
    }
    stream.join();
    end.ledger = stream.ledger().snapshot();
    end.outages = stream.outages();
    end.faults = stream.faults();
    end.fault = stream.fault();
  }
  end.truth = camera->truth;
  end.log = testing::internal::GetCapturedStderr();
  return end;
}

void expect_accounts(const StreamEnd& end) {
  EXPECT_EQ(end.fault, "");
  EXPECT_EQ(end.ledger.in_flight(), 0) << "unaccounted";
  EXPECT_EQ(end.ledger.processed, end.truth.good);
  EXPECT_EQ(end.ledger.corrupt, end.truth.corrupt);
  EXPECT_EQ(end.ledger.lost, end.truth.lost);
  EXPECT_EQ(end.ledger.no_buffer, end.truth.no_buffer);
  EXPECT_EQ(end.ledger.dropped(), end.truth.no_buffer);
}

TEST(CameraStream, AccountsForAllFrames) {
  const StreamEnd end = stream_of({}, 100);
  expect_accounts(end);
  EXPECT_EQ(end.ledger.captured, 100);
  EXPECT_EQ(end.ledger.processed, 100);
  EXPECT_EQ(end.outages.count, 0);
  EXPECT_EQ(end.log, "");
}

TEST(CameraStream, AccountsForDamagedAndLostFrames) {
  FakeCamera camera;
  camera.change = [](FakeFrame& frame) {
    if (frame.number % 10 == 3) frame.flags |= V4L2_BUF_FLAG_ERROR;
    if (frame.number % 10 == 5) frame.bytes /= 2;
    frame.is_lost = frame.number % 10 == 7;
  };
  const StreamEnd end = stream_of(camera, 100);
  expect_accounts(end);
  EXPECT_EQ(end.ledger.corrupt, 20);
  EXPECT_EQ(end.ledger.lost, 10);
  EXPECT_EQ(end.ledger.processed, 70);
  EXPECT_EQ(end.outages.count, 0);
}

TEST(CameraStream, CountsOutages) {
  const StreamEnd end = stream_of({}, 300, [](FakeCalls& calls) {
    const auto camera = calls.share();
    for (const int begin : {1, 4, 7}) {
      calls.at(seconds(begin), [&calls] { calls.unplug(FakeCalls::kNode); });
      calls.at(seconds(begin + 2), [&calls, camera] { calls.plug(FakeCalls::kNode, camera); });
    }
  });
  expect_accounts(end);
  EXPECT_EQ(end.outages.count, 3);
  EXPECT_EQ(end.outages.latest.size(), 3U);
  EXPECT_EQ(end.faults.unplugged, 3);
  EXPECT_THAT(end.log, HasSubstr("0 (HD Webcam): was unplugged; waiting until it is back"));
  EXPECT_THAT(end.log, HasSubstr("0: frames arrive again after "));
}

TEST(CameraStream, AccountsForStallsAndErrors) {
  FakeCamera camera;
  camera.stalls = {10, 50, 51};
  camera.next_errors[VIDIOC_DQBUF] = {0, 0, -EIO, 0, -EAGAIN};
  camera.next_errors[VIDIOC_QBUF] = {-EINVAL, 0, 0, 0, 0, 0, -EINVAL};
  const StreamEnd end = stream_of(camera, 100);
  expect_accounts(end);
  EXPECT_EQ(end.faults.restarts, 4);
  EXPECT_EQ(end.faults.refused_buffers, 2);
  EXPECT_EQ(end.outages.count, 3) << "one of 50 and 51";
}

TEST(CameraStream, AccountsForANewFormat) {
  const StreamEnd end = stream_of({}, 100, [](FakeCalls& calls) {
    const auto camera = calls.share();
    calls.at(seconds(1), [&calls, camera] {
      camera->formats[0].sizes[0].width = 320;
      calls.announce_format(*camera);
    });
  });
  expect_accounts(end);
  EXPECT_EQ(end.faults.format_changes, 1);
  EXPECT_EQ(end.outages.count, 1);
}

TEST(CameraStream, AccountsForUserBuffers) {
  FakeCamera camera;
  camera.stalls = {20};
  camera.change = [](FakeFrame& frame) {
    if (frame.number == 5) frame.flags |= V4L2_BUF_FLAG_ERROR;
    if (frame.number == 30) frame.bytes = 7;
  };
  const StreamEnd end = stream_of(camera, 60, {}, "0?io=userptr");
  expect_accounts(end);
  EXPECT_EQ(end.ledger.corrupt, 2);
  EXPECT_EQ(end.faults.restarts, 1);
}

TEST(CameraStream, ARefusedFirstStartIsItsFault) {
  FakeCamera camera;
  camera.all_errors[VIDIOC_STREAMON] = -ENOSPC;
  const StreamEnd end = stream_of(camera, 60);
  EXPECT_THAT(end.fault, HasSubstr("the USB bus has no bandwidth left; use a smaller size"));
  EXPECT_EQ(end.ledger.captured, 0);
}

TEST(CameraStream, EndsWhileTheCameraIsAway) {
  const auto calls = std::make_shared<FakeCalls>();
  const auto reader = open_camera("0?io=userptr", {}, calls);
  test::PageMemory memory;
  BoundedQueue<Frame> queue({{DropPolicy::kOldest, 1}});
  Stream stream(*reader, queue, {.buffers = 2, .memory = &memory});
  while (stream.ledger().captured() < 3) std::this_thread::yield();
  calls->unplug(FakeCalls::kNode);
  while (stream.state() != StreamState::kConnecting) std::this_thread::yield();
  queue.cancel();
  while (queue.drain(0)) continue;
  stream.cancel();
  stream.join();
  EXPECT_EQ(stream.faults().unplugged, 1);
  EXPECT_EQ(calls->open_descriptors(), 0);
}

}  // namespace
}  // namespace saccade::v4l2
