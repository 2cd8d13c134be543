#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "media/v4l2/camera_rig.hpp"

namespace saccade::v4l2 {
namespace {

using test::CameraRig;
using test::FakeCalls;
using test::FakeCamera;
using ::testing::HasSubstr;

/// The first frame, and what was logged until then.
struct FirstFrame {
  bool is_there = false;
  bool is_of_pool = false;
  std::string log;
};

FirstFrame first_frame(CameraRig& rig) {
  testing::internal::CaptureStderr();
  const auto frame = rig.frame();
  FirstFrame first{.is_there = frame.has_value(), .is_of_pool = rig.pool.bytes() > 0};
  first.log = testing::internal::GetCapturedStderr();
  EXPECT_EQ(frame ? frame->view.planes[0][0] : 0, FakeCamera::byte_of(0));
  return first;
}

TEST(UserBuffers, AreThoseOfThePool) {
  CameraRig rig({}, "0?io=userptr");
  EXPECT_EQ(rig.reader->held_buffers(), 4);
  for (int i = 0; i < 20; ++i) {
    const auto frame = rig.frame();
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->view.planes[0][0], FakeCamera::byte_of(i));
    const auto address = reinterpret_cast<std::uintptr_t>(frame->view.planes[0]);
    EXPECT_EQ(std::ranges::count(rig.camera->user_pointers, address) > 0, true) << "the driver wrote there";
    EXPECT_EQ(frame->sequence, i);
  }
  EXPECT_EQ(rig.calls->mappings(), 0);
}

TEST(UserBuffers, AreUsedForMemoryOfAGpuUnlessTheUriSaysOtherwise) {
  CameraRig pinned({}, "0", MemoryKind::kPinned);
  EXPECT_TRUE(first_frame(pinned).is_of_pool);
  EXPECT_EQ(pinned.calls->mappings(), 0) << "the driver's own are freed";
  CameraRig plain({}, "0", MemoryKind::kPlain);
  EXPECT_EQ(first_frame(plain).is_there, true);
  EXPECT_EQ(plain.calls->mappings(), 4);
  CameraRig mapped({}, "0?io=mmap", MemoryKind::kPinned);
  EXPECT_FALSE(first_frame(mapped).is_of_pool);
  EXPECT_EQ(mapped.calls->mappings(), 4);
  EXPECT_EQ(mapped.reader->held_buffers(), 0);
}

TEST(UserBuffers, HaveTheirMemorysKind) {
  CameraRig rig({}, "0", MemoryKind::kPinned);
  EXPECT_EQ(rig.frame()->view.memory, MemoryKind::kPinned);
}

TEST(UserBuffers, ThatTheDriverCantFillAreReplacedByItsOwn) {
  FakeCamera camera;
  camera.has_user_memory = false;
  testing::internal::CaptureStderr();
  CameraRig rig(camera, "0?io=userptr");
  EXPECT_THAT(
      testing::internal::GetCapturedStderr(),
      HasSubstr("/dev/video0 (HD Webcam): its driver can't write into the pipeline's buffers: Invalid argument; "
                "its buffers are mapped instead (io=mmap)"));
  EXPECT_TRUE(first_frame(rig).is_there);
  EXPECT_EQ(rig.calls->mappings(), 4);
  CameraRig automatic(camera, "0", MemoryKind::kPinned);
  EXPECT_THAT(first_frame(automatic).log, HasSubstr("its buffers are mapped instead"));
  EXPECT_EQ(automatic.calls->mappings(), 4);
}

TEST(UserBuffers, ThatTheDriverRefusesToQueueAreReplacedByItsOwn) {
  FakeCamera camera;
  camera.next_errors[VIDIOC_QBUF] = {-EINVAL, -EINVAL, -EINVAL, -EINVAL};
  CameraRig rig(camera, "0?io=userptr");
  const FirstFrame first = first_frame(rig);
  EXPECT_TRUE(first.is_there);
  EXPECT_THAT(first.log, HasSubstr("its driver can't write into the pipeline's buffers (Invalid argument); its own are "
                                   "mapped instead (io=mmap)"));
  EXPECT_EQ(rig.calls->mappings(), 4);
}

/// Memory that begins 64 bytes after a page.
class ShiftedMemory final : public FrameMemory {
 public:
  MemoryKind kind() const override { return MemoryKind::kPlain; }
  std::byte* allocate(std::size_t bytes) override { return pages_.allocate(bytes + 64) + 64; }
  void deallocate(std::byte* memory) noexcept override {
    if (memory != nullptr) pages_.deallocate(memory - 64);
  }

 private:
  test::PageMemory pages_;
};

TEST(UserBuffers, ThatDoNotBeginAtAPageAreReplacedByTheDriversOwn) {
  const auto calls = std::make_shared<FakeCalls>();
  ShiftedMemory memory;
  saccade::FramePool pool(8, memory);
  const auto reader = open_camera("0?io=userptr", {}, calls);
  const Outcome<Frame> frame = reader->read(pool);
  ASSERT_TRUE(frame);
  EXPECT_EQ(calls->mappings(), 4);
  EXPECT_TRUE(calls->camera().user_pointers.empty());
}

TEST(UserBuffers, TooFewAreReplacedByTheDriversOwn) {
  FakeCamera camera;
  camera.fewest_buffers = 0;
  camera.most_buffers = 0;
  const auto calls = std::make_shared<FakeCalls>(camera);
  const std::string refusal = test::refusal_of([&] { open_camera("0?io=userptr", {}, calls); });
  EXPECT_THAT(refusal, HasSubstr("its driver has 0 buffers only"));
}

TEST(UserBuffers, WaitForThePoolWithoutACameraFault) {
  CameraRig rig({}, "0?io=userptr", MemoryKind::kPlain, 4);
  std::vector<Frame> held;
  for (int i = 0; i < 4; ++i) held.push_back(std::move(*rig.frame()));
  rig.calls->at(std::chrono::seconds(20), [&] { held.clear(); });
  int without = 0;
  for (;;) {
    const Outcome<Frame> outcome = rig.read();
    if (outcome) break;
    ASSERT_EQ(outcome.failure().status, Status::kNoBuffer);
    ++without;
  }
  EXPECT_GT(without, 500);
  EXPECT_EQ(rig.reader->faults().restarts, 0);
}

TEST(UserBuffers, AreThePoolsAgainAfterCancel) {
  CameraRig rig({}, "0?io=userptr", MemoryKind::kPlain, 5);
  ASSERT_TRUE(rig.frame());
  rig.reader->cancel();
  std::vector<FrameLease> leases;
  for (int i = 0; i < 5; ++i) {
    leases.push_back(rig.pool.try_acquire(100));
    EXPECT_TRUE(leases.back()) << i;
  }
}

TEST(UserBuffers, SurviveAnUnpluggedDevice) {
  CameraRig rig({}, "0?io=userptr");
  ASSERT_TRUE(rig.frame());
  rig.calls->unplug(FakeCalls::kNode);
  EXPECT_EQ(rig.read().failure().status, Status::kTimeout);
  rig.calls->plug(FakeCalls::kNode, rig.camera);
  const auto frame = rig.frame();
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->sequence, 1);
}

TEST(UserBuffers, OfADeviceThatGoesAwayDuringTheChoiceAreWaitedFor) {
  CameraRig rig({}, "0", MemoryKind::kPinned);
  rig.camera->next_errors[VIDIOC_REQBUFS] = {-ENODEV};
  bool is_first = true;
  rig.camera->hooks[VIDIOC_REQBUFS] = [&] {
    if (!std::exchange(is_first, false)) return;
    rig.calls->unplug(FakeCalls::kNode);
    rig.calls->plug(FakeCalls::kNode, rig.camera);
  };
  const auto frame = rig.frame();
  ASSERT_TRUE(frame) << rig.last.message;
  EXPECT_EQ(rig.timeouts, 1);
}

TEST(UserBuffers, ThatCantBeReplacedEitherDoNotEndARunningSource) {
  CameraRig rig({}, "0", MemoryKind::kPinned);
  ASSERT_TRUE(rig.frame());
  rig.calls->unplug(FakeCalls::kNode);
  // The next device refuses everything at its first opening.
  rig.camera->next_errors[VIDIOC_REQBUFS] = {0, -EINVAL, -ENOMEM};
  rig.calls->plug(FakeCalls::kNode, rig.camera);
  const auto frame = rig.frame();
  ASSERT_TRUE(frame) << rig.last.message;
  EXPECT_EQ(frame->sequence, 1);
}

}  // namespace
}  // namespace saccade::v4l2
