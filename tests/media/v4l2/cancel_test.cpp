#include <gtest/gtest.h>

#include <future>

#include "media/v4l2/camera_rig.hpp"

namespace saccade::v4l2 {
namespace {

using test::CameraRig;
using test::FakeCalls;
using test::FakeCamera;

/// Reads RIG on another thread until its wait, cancels there, and expects the end of reading at once.
void expect_cancelled(CameraRig& rig) {
  rig.calls->block();
  auto reading = std::async(std::launch::async, [&rig] {
    for (;;) {
      Outcome<Frame> outcome = rig.read();
      if (outcome || outcome.failure().status != Status::kTimeout)
        return outcome ? Status::kEnd : outcome.failure().status;
    }
  });
  rig.calls->wait_for_waiter();
  const auto begin = Clock::now();
  rig.reader->cancel();
  EXPECT_EQ(reading.get(), Status::kCancelled);
  EXPECT_LT(to_milliseconds(Clock::now() - begin), 1000);
  EXPECT_EQ(rig.read().failure().status, Status::kCancelled) << "and later ones";
  EXPECT_FALSE(rig.camera->is_streaming);
}

TEST(CancelCamera, EndsTheWaitForAFrame) {
  CameraRig rig;
  ASSERT_TRUE(rig.frame());
  expect_cancelled(rig);
}

TEST(CancelCamera, EndsTheWaitForTheFirstFrame) {
  CameraRig rig;
  expect_cancelled(rig);
}

TEST(CancelCamera, EndsTheWaitForABuffer) {
  CameraRig rig;
  std::vector<Frame> held;
  for (int i = 0; i < 4; ++i) held.push_back(std::move(*rig.frame()));
  expect_cancelled(rig);
}

TEST(CancelCamera, EndsTheWaitForACamera) {
  CameraRig rig;
  ASSERT_TRUE(rig.frame());
  rig.calls->unplug(FakeCalls::kNode);
  expect_cancelled(rig);
}

TEST(CancelCamera, EndsThePauseBeforeAnotherStart) {
  FakeCamera camera;
  camera.stalls = {1};
  CameraRig rig(camera);
  ASSERT_TRUE(rig.frame());
  rig.camera->all_errors[VIDIOC_STREAMON] = -EIO;
  ASSERT_EQ(rig.read().failure().status, Status::kTimeout);
  ASSERT_EQ(rig.read().failure().status, Status::kTimeout);
  expect_cancelled(rig);
}

TEST(CancelCamera, EndsThePauseOfADeviceThatIsReadyWithoutAFrame) {
  FakeCamera camera;
  camera.stalls = {1};
  camera.is_always_ready = true;
  CameraRig rig(camera);
  ASSERT_TRUE(rig.frame());
  expect_cancelled(rig);
}

TEST(CancelCamera, BeforeItsStartReadsNothing) {
  CameraRig rig;
  rig.reader->cancel();
  EXPECT_EQ(rig.read().failure().status, Status::kCancelled);
  EXPECT_EQ(rig.camera->starts, 0);
}

TEST(CancelCamera, WhileItIsAwayIsPossible) {
  CameraRig rig;
  ASSERT_TRUE(rig.frame());
  rig.calls->unplug(FakeCalls::kNode);
  EXPECT_EQ(rig.read().failure().status, Status::kTimeout);
  rig.reader->cancel();
  EXPECT_EQ(rig.read().failure().status, Status::kCancelled);
}

/// A RIG whose driver had no buffer for several frames, of which the first is reported.
void run_dry(CameraRig& rig) {
  std::vector<Frame> held;
  for (int i = 0; i < 4; ++i) held.push_back(std::move(*rig.frame()));
  rig.calls->at(std::chrono::seconds(1), [&] { held.clear(); });
  ASSERT_EQ(rig.read().failure().status, Status::kNoBuffer) << "a frame is held behind it";
}

TEST(CancelCamera, FramesWithoutABufferAreReportedFirst) {
  CameraRig rig({}, "0?io=userptr", MemoryKind::kPlain, 4);
  run_dry(rig);
  rig.reader->cancel();
  std::int64_t reported = 1;
  Status status{};
  while ((status = rig.read().failure().status) == Status::kNoBuffer) ++reported;
  EXPECT_EQ(status, Status::kCancelled);
  EXPECT_GT(reported, 10);
  EXPECT_EQ(reported, rig.camera->truth.no_buffer);
}

TEST(CancelCamera, GivesTheHeldFrameBack) {
  CameraRig rig({}, "0?io=userptr", MemoryKind::kPlain, 4);
  run_dry(rig);
  rig.reader->cancel();
  std::vector<FrameLease> leases;
  for (int i = 0; i < 4; ++i) {
    leases.push_back(rig.pool.try_acquire(10));
    EXPECT_TRUE(leases.back());
  }
}

}  // namespace
}  // namespace saccade::v4l2
