#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "media/v4l2/camera_rig.hpp"

namespace saccade::v4l2 {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;
using test::CameraRig;
using test::FakeCalls;
using test::FakeCamera;
using test::FakeFrame;
using ::testing::HasSubstr;

/// Between the device's return and a frame of it: an attempt each 250 ms, and the first frame's period.
constexpr nanoseconds kBack = milliseconds(250 + 40);

/// Reads frames until the clock has passed UNTIL; how many.
int read_until(CameraRig& rig, nanoseconds until) {
  int frames = 0;
  while (rig.calls->elapsed() < until && rig.frame()) ++frames;
  return frames;
}

void expect_faults(const CameraRig& rig, const SourceFaults& expected) {
  const SourceFaults faults = rig.reader->faults();
  EXPECT_EQ(faults.unplugged, expected.unplugged);
  EXPECT_EQ(faults.restarts, expected.restarts);
  EXPECT_EQ(faults.format_changes, expected.format_changes);
  EXPECT_EQ(faults.refused_buffers, expected.refused_buffers);
  EXPECT_EQ(faults.replaced_timestamps, expected.replaced_timestamps);
}

TEST(CameraRecovery, AnUnpluggedCameraIsUsedAgainWhenItIsBack) {
  CameraRig rig;
  rig.calls->at(seconds(2), [&] { rig.calls->unplug(FakeCalls::kNode); });
  rig.calls->at(seconds(7), [&] { rig.calls->plug(FakeCalls::kNode, rig.camera); });
  const int before = read_until(rig, milliseconds(1990));
  const auto frame = rig.frame();
  ASSERT_TRUE(frame);
  EXPECT_GE(rig.calls->elapsed(), seconds(7));
  EXPECT_LE(rig.calls->elapsed(), seconds(7) + kBack);
  EXPECT_EQ(frame->sequence, before) << "numbers continue";
  EXPECT_EQ(rig.last.message, "/dev/video0 (HD Webcam): was unplugged; waiting until it is back");
  EXPECT_NEAR(rig.timeouts, 20, 2) << "one per attempt";
  expect_faults(rig, {.unplugged = 1});
}

TEST(CameraRecovery, ACameraIsFoundUnderAnotherNumber) {
  CameraRig rig;
  rig.calls->at(seconds(1), [&] { rig.calls->unplug(FakeCalls::kNode); });
  rig.calls->at(seconds(2), [&] { rig.calls->plug("/dev/video4", rig.camera); });
  read_until(rig, milliseconds(990));
  ASSERT_TRUE(rig.frame());
  EXPECT_LE(rig.calls->elapsed(), seconds(2) + kBack);
  // And back under its first one.
  rig.calls->at(seconds(3), [&] { rig.calls->unplug("/dev/video4"); });
  rig.calls->at(seconds(4), [&] { rig.calls->plug(FakeCalls::kNode, rig.camera); });
  read_until(rig, milliseconds(2990));
  ASSERT_TRUE(rig.frame());
  EXPECT_LE(rig.calls->elapsed(), seconds(4) + kBack);
  expect_faults(rig, {.unplugged = 2});
}

TEST(CameraRecovery, AnotherCameraIsNotTaken) {
  CameraRig rig;
  ASSERT_TRUE(rig.frame());
  rig.calls->unplug(FakeCalls::kNode);
  FakeCamera other;
  other.serial = "B2";
  rig.calls->plug(FakeCalls::kNode, std::make_shared<FakeCamera>(other));
  rig.calls->at(seconds(5), [&] { rig.calls->plug("/dev/video1", rig.camera); });
  const auto frame = rig.frame();
  ASSERT_TRUE(frame);
  EXPECT_GE(rig.calls->elapsed(), seconds(5));
  EXPECT_EQ(frame->view.planes[0][0], FakeCamera::byte_of(1)) << "of the first camera";
}

TEST(CameraRecovery, WithoutASerialNumberTheSamePortIsTheSameCamera) {
  FakeCamera camera;
  camera.serial = "";
  for (const bool is_same : {false, true}) {
    CameraRig rig(camera);
    ASSERT_TRUE(rig.frame());
    rig.calls->unplug(FakeCalls::kNode);
    FakeCamera other = camera;
    if (!is_same) other.bus = "usb-0000:00:14.0-2";
    rig.calls->plug(FakeCalls::kNode, std::make_shared<FakeCamera>(other));
    rig.calls->at(seconds(3), [&] { rig.calls->plug("/dev/video1", rig.camera); });
    ASSERT_TRUE(rig.frame());
    EXPECT_EQ(rig.calls->elapsed() < seconds(3), is_same);
  }
}

constexpr const char* kOtherPort = "usb-0000:00:14.0-2";

TEST(CameraRecovery, ACameraWithASerialNumberOfItsOwnIsFoundInAnotherPort) {
  CameraRig rig;
  ASSERT_TRUE(rig.frame());
  rig.calls->unplug(FakeCalls::kNode);
  rig.camera->bus = kOtherPort;
  rig.calls->at(seconds(2), [&] { rig.calls->plug("/dev/video3", rig.camera); });
  ASSERT_TRUE(rig.frame());
  EXPECT_LE(rig.calls->elapsed(), seconds(2) + kBack);
  rig.calls->announce_format(*rig.camera);
  ASSERT_TRUE(rig.frame()) << "that port is its own now";
  EXPECT_LE(rig.calls->elapsed(), seconds(3));
}

/// Cheap cameras of one model share their serial number. The other one is there from the start, is plugged in while the
/// first is read, or is all that its link by ID names.
TEST(CameraRecovery, ACameraWithTheSameSerialNumberIsNotTaken) {
  constexpr const char* kLink = "/dev/v4l/by-id/usb-HD_Webcam_A1-video-index0";
  FakeCamera twin;
  twin.bus = kOtherPort;
  for (const bool is_late : {false, true}) {
    for (const std::string uri : {FakeCalls::kNode, kLink}) {
      SCOPED_TRACE(uri + (is_late ? ", late" : ", from the start"));
      const auto calls = std::make_shared<FakeCalls>();
      const std::shared_ptr<FakeCamera> camera = calls->share();
      calls->link(kLink, FakeCalls::kNode);
      const auto plug_twin = [&] { calls->plug("/dev/video1", std::make_shared<FakeCamera>(twin)); };
      if (!is_late) plug_twin();
      saccade::FramePool pool(8);
      const auto reader = open_camera(uri, {}, calls);
      ASSERT_TRUE(reader->read(pool));
      if (is_late) plug_twin();
      calls->unplug(FakeCalls::kNode);
      calls->link(kLink, "/dev/video1");
      calls->at(seconds(5), [&] { calls->plug("/dev/video2", camera); });
      Outcome<Frame> frame = reader->read(pool);
      while (!frame && frame.failure().status == Status::kTimeout) frame = reader->read(pool);
      ASSERT_TRUE(frame);
      EXPECT_GE(calls->elapsed(), seconds(5));
      EXPECT_EQ(frame->view.planes[0][0], FakeCamera::byte_of(1)) << "of the first camera";
    }
  }
}

/// The numbers of two such cameras may be exchanged.
TEST(CameraRecovery, OfTwoWithOneSerialNumberTheOneInItsPortIsTaken) {
  CameraRig rig;
  ASSERT_TRUE(rig.frame());
  rig.calls->unplug(FakeCalls::kNode);
  EXPECT_EQ(rig.read().failure().status, Status::kTimeout);
  FakeCamera twin;
  twin.bus = kOtherPort;
  rig.calls->plug(FakeCalls::kNode, std::make_shared<FakeCamera>(twin));
  rig.calls->plug("/dev/video1", rig.camera);
  const auto frame = rig.frame();
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->view.planes[0][0], FakeCamera::byte_of(1)) << "of the first camera";
}

TEST(CameraRecovery, ALinkByIdIsFollowed) {
  constexpr const char* kLink = "/dev/v4l/by-id/usb-HD_Webcam-video-index0";
  const auto calls = std::make_shared<FakeCalls>();
  calls->link(kLink, FakeCalls::kNode);
  saccade::FramePool pool(8);
  const auto reader = open_camera(kLink, {}, calls);
  ASSERT_TRUE(reader->read(pool));
  calls->unplug(FakeCalls::kNode);
  FakeCamera replaced;
  replaced.serial = "B2";
  calls->link(kLink, "/dev/video3");
  calls->plug("/dev/video3", std::make_shared<FakeCamera>(replaced));
  EXPECT_EQ(reader->read(pool).failure().status, Status::kTimeout);
  EXPECT_TRUE(reader->read(pool)) << "the link says that it is the one";
}

TEST(CameraRecovery, ACameraThatIsBackButBusyIsWaitedFor) {
  CameraRig rig;
  ASSERT_TRUE(rig.frame());
  rig.calls->unplug(FakeCalls::kNode);
  rig.camera->all_errors[VIDIOC_S_FMT] = -EBUSY;
  rig.calls->plug(FakeCalls::kNode, rig.camera);
  rig.calls->at(seconds(3), [&] { rig.camera->all_errors.clear(); });
  ASSERT_TRUE(rig.frame());
  EXPECT_LE(rig.calls->elapsed(), seconds(3) + kBack);
  EXPECT_THAT(rig.last.message, HasSubstr("is back, but can't be used: /dev/video0 (HD Webcam) is in use by another "));
}

TEST(CameraRecovery, AStallIsNoticedAfterASecond) {
  FakeCamera camera;
  camera.stalls = {30};
  CameraRig rig(camera);
  for (int i = 0; i < 30; ++i) ASSERT_TRUE(rig.frame());
  const nanoseconds last = rig.calls->elapsed();
  const auto frame = rig.frame();
  ASSERT_TRUE(frame);
  EXPECT_GE(rig.calls->elapsed(), last + seconds(1));
  EXPECT_LE(rig.calls->elapsed(), last + seconds(1) + milliseconds(40));
  EXPECT_EQ(frame->sequence, 30);
  EXPECT_EQ(rig.last.message, "/dev/video0 (HD Webcam): no frame for 1.0 s; its stream is started again");
  expect_faults(rig, {.restarts = 1});
}

TEST(CameraRecovery, ASlowCameraStallsAfterTenPeriods) {
  FakeCamera camera;
  camera.formats[0].sizes[0].intervals = {{1, 2}};
  camera.stalls = {3};
  CameraRig rig(camera);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(rig.frame());
  const nanoseconds last = rig.calls->elapsed();
  ASSERT_TRUE(rig.frame());
  EXPECT_GE(rig.calls->elapsed(), last + seconds(5));
  EXPECT_LE(rig.calls->elapsed(), last + seconds(5) + milliseconds(510));
}

TEST(CameraRecovery, AStalledStreamIsStartedThreeTimesAndThenOpenedAgain) {
  FakeCamera camera;
  camera.stalls = {5};
  CameraRig rig(camera);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(rig.frame());
  rig.camera->dead_starts = 3;
  const auto requests = rig.camera->calls[VIDIOC_REQBUFS];
  ASSERT_TRUE(rig.frame());
  EXPECT_EQ(rig.camera->calls[VIDIOC_REQBUFS], requests + 1);
  expect_faults(rig, {.restarts = 4});
}

TEST(CameraRecovery, ACameraWithoutAFirstFrameIsStartedAgain) {
  FakeCamera camera;
  camera.dead_starts = 5;
  CameraRig rig(camera);
  ASSERT_TRUE(rig.frame());
  EXPECT_GE(rig.calls->elapsed(), seconds(25));
  EXPECT_LE(rig.calls->elapsed(), seconds(27));
  expect_faults(rig, {.restarts = 5});
}

TEST(CameraRecovery, AFailedStreamIsStartedAtOnce) {
  CameraRig rig;
  ASSERT_TRUE(rig.frame());
  const nanoseconds before = rig.calls->elapsed();
  rig.camera->next_errors[VIDIOC_DQBUF] = {-EIO};
  const auto frame = rig.frame();
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->sequence, 1);
  EXPECT_LE(rig.calls->elapsed() - before, milliseconds(70));
  EXPECT_THAT(rig.last.message, HasSubstr("its driver reports 'Input/output error'; its stream is started again"));
  expect_faults(rig, {.restarts = 1});
}

TEST(CameraRecovery, AStreamThatAlwaysFailsIsTriedForEverWithoutHaste) {
  CameraRig rig;
  ASSERT_TRUE(rig.frame());
  rig.camera->all_errors[VIDIOC_DQBUF] = -EIO;
  rig.calls->at(seconds(60), [&] { rig.camera->all_errors.clear(); });
  ASSERT_TRUE(rig.frame());
  EXPECT_LE(rig.calls->elapsed(), seconds(61));
  EXPECT_LT(rig.camera->starts, 400);
}

TEST(CameraRecovery, AStartThatIsRefusedIsTriedAgain) {
  FakeCamera camera;
  camera.stalls = {5};
  CameraRig rig(camera);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(rig.frame());
  rig.camera->all_errors[VIDIOC_STREAMON] = -ENOSPC;
  rig.calls->at(seconds(20), [&] { rig.camera->all_errors.clear(); });
  ASSERT_TRUE(rig.frame());
  EXPECT_LE(rig.calls->elapsed(), seconds(20) + kBack);
  EXPECT_THAT(rig.last.message, HasSubstr("can't stream: No space left on device"));
}

TEST(CameraRecovery, AFirstStartThatIsRefusedEndsTheSource) {
  for (const auto& [error, why] :
       {std::pair(-ENOSPC, "the USB bus has no bandwidth left"), std::pair(-EBUSY, "is in use by another program"),
        std::pair(-EIO, "it can't stream: Input/output error")}) {
    FakeCamera camera;
    camera.all_errors[VIDIOC_STREAMON] = error;
    CameraRig rig(camera);
    const Outcome<Frame> outcome = rig.read();
    EXPECT_EQ(outcome.failure().status, Status::kLost);
    EXPECT_THAT(outcome.failure().message, HasSubstr(why));
  }
}

TEST(CameraRecovery, ACameraUnpluggedBeforeItsFirstFrameIsWaitedFor) {
  for (const bool is_started : {false, true}) {
    FakeCamera camera;
    camera.dead_starts = 1;
    CameraRig rig(camera);
    if (is_started)
      rig.calls->at(seconds(1), [&] { rig.calls->unplug(FakeCalls::kNode); });
    else
      rig.calls->unplug(FakeCalls::kNode);
    rig.camera->next_errors[VIDIOC_STREAMON] = {0, -EIO};
    rig.calls->at(seconds(3), [&] { rig.calls->plug(FakeCalls::kNode, rig.camera); });
    EXPECT_TRUE(rig.frame()) << rig.last.message;
    EXPECT_EQ(rig.reader->faults().unplugged, 1);
  }
}

TEST(CameraRecovery, ARestartThatIsRefusedBeforeTheFirstFrameIsTriedAgain) {
  FakeCamera camera;
  camera.dead_starts = 1;
  camera.next_errors[VIDIOC_STREAMON] = {0, -EIO};
  CameraRig rig(camera);
  EXPECT_TRUE(rig.frame()) << rig.last.message;
}

TEST(CameraRecovery, ANewFormatOpensTheDeviceAgain) {
  CameraRig rig;
  ASSERT_TRUE(rig.frame());
  rig.camera->formats[0].sizes[0].width = 800;
  rig.camera->formats[0].sizes[0].height = 600;
  rig.calls->announce_format(*rig.camera);
  const auto frame = rig.frame();
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->view.width, 800);
  EXPECT_EQ(frame->sequence, 1);
  EXPECT_THAT(rig.last.message, HasSubstr("its signal has another format; it is opened again"));
  expect_faults(rig, {.format_changes = 1});
}

TEST(CameraRecovery, OtherEventsChangeNothing) {
  CameraRig rig;
  ASSERT_TRUE(rig.frame());
  v4l2_event event{};
  event.type = V4L2_EVENT_CTRL;
  rig.camera->events = {event, event};
  ASSERT_TRUE(rig.frame());
  EXPECT_EQ(rig.timeouts, 0);
  expect_faults(rig, {});
}

TEST(CameraRecovery, AnEventThatCantBeTakenKeepsNoProcessorBusy) {
  CameraRig rig;
  ASSERT_TRUE(rig.frame());
  rig.camera->all_errors[VIDIOC_DQEVENT] = -EINVAL;
  rig.camera->events.emplace_back();
  read_until(rig, seconds(2));
  EXPECT_LT(rig.calls->waits(), 5000);
  expect_faults(rig, {});
}

TEST(CameraRecovery, ARefusedBufferIsOfferedAgain) {
  CameraRig rig;
  ASSERT_TRUE(rig.frame());
  rig.camera->next_errors[VIDIOC_QBUF] = {-EINVAL};
  for (int i = 1; i < 20; ++i) {
    const auto frame = rig.frame();
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->sequence, i);
  }
  EXPECT_EQ(rig.camera->queued.size(), 4U);
  expect_faults(rig, {.refused_buffers = 1});
}

TEST(CameraRecovery, ADriverThatRefusesAllBuffersIsStartedAgain) {
  CameraRig rig;
  ASSERT_TRUE(rig.frame());
  rig.camera->all_errors[VIDIOC_QBUF] = -EINVAL;
  rig.calls->at(seconds(10), [&] { rig.camera->all_errors.clear(); });
  read_until(rig, seconds(9));
  ASSERT_TRUE(rig.frame());
  EXPECT_LE(rig.calls->elapsed(), seconds(11));
  EXPECT_GE(rig.reader->faults().restarts, 1);
}

TEST(CameraRecovery, ADriverThatIsAlwaysReadyWithoutAFrameIsStartedAgain) {
  FakeCamera camera;
  camera.stalls = {5};
  camera.is_always_ready = true;
  CameraRig rig(camera);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(rig.frame());
  const nanoseconds last = rig.calls->elapsed();
  ASSERT_TRUE(rig.frame());
  EXPECT_LE(rig.calls->elapsed() - last, milliseconds(1100));
  EXPECT_LT(rig.calls->waits(), 5000) << "a millisecond each";
  expect_faults(rig, {.restarts = 1});
}

/// A buffer that is given back while the stream is stopped must not be one that the driver has.
TEST(CameraRecovery, ALeaseThatEndsDuringARestartLosesNoBuffer) {
  FakeCamera camera;
  camera.stalls = {6};
  CameraRig rig(camera);
  std::optional<Frame> held = rig.frame();
  std::jthread consumer;
  rig.camera->hooks[VIDIOC_STREAMOFF] = [&] {
    if (consumer.joinable()) return;
    consumer = std::jthread([&] { held.reset(); });
    std::this_thread::sleep_for(milliseconds(50));
  };
  for (int i = 1; i < 30; ++i) {
    const auto frame = rig.frame();
    ASSERT_TRUE(frame) << rig.last.message;
    EXPECT_EQ(frame->sequence, i);
  }
  rig.camera->hooks.clear();  // closing the device stops its stream, too
  EXPECT_TRUE(consumer.joinable());
  expect_faults(rig, {.restarts = 1});
}

}  // namespace
}  // namespace saccade::v4l2
