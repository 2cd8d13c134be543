#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "media/v4l2/camera_rig.hpp"

namespace saccade::v4l2 {
namespace {

using std::chrono::milliseconds;
using test::CameraRig;
using test::FakeCalls;
using test::FakeCamera;
using ::testing::HasSubstr;

FakeCamera of_format(std::uint32_t code, std::uint32_t width, std::uint32_t height) {
  FakeCamera camera;
  camera.formats = {{code, {{width, height}}, {}}};
  return camera;
}

/// Whether all samples of FRAME are those of the camera's frame NUMBER.
bool is_frame(const Frame& frame, std::int64_t number) {
  const auto planes = plane_sizes(frame.view.format, frame.view.width, frame.view.height);
  for (std::size_t i = 0; i < planes.size(); ++i)
    for (int y = 0; y < planes[i].rows; ++y) {
      const std::uint8_t* row = frame.view.planes[i] + std::ptrdiff_t{y} * frame.view.pitch_bytes[i];
      const auto is_of = [&](std::uint8_t byte) { return byte == FakeCamera::byte_of(number); };
      if (!std::all_of(row, row + planes[i].row_bytes, is_of)) return false;
    }
  return true;
}

TEST(CameraFrames, HaveTheirNumberAndTimes) {
  CameraRig rig;
  for (int i = 0; i < 10; ++i) {
    const auto frame = rig.frame();
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->sequence, i);
    EXPECT_TRUE(is_frame(*frame, i));
    ASSERT_TRUE(frame->exposed);
    // Of the fake's clock: exposed a millisecond before the driver has it.
    EXPECT_NEAR(to_milliseconds(frame->captured - *frame->exposed), 1, 0.01);
    EXPECT_EQ(frame->timestamp_ns, frame->exposed->time_since_epoch().count());
    EXPECT_EQ(frame->capture_time.count(), 0);
  }
  EXPECT_EQ(rig.timeouts, 0);
}

TEST(CameraFrames, AreTheDriversOwnBuffers) {
  CameraRig rig({}, "0?io=mmap");
  const auto frame = rig.frame();
  ASSERT_TRUE(frame);
  const FakeCamera::Buffer& buffer = rig.camera->buffers[0];
  EXPECT_EQ(static_cast<const void*>(frame->view.planes[0]), buffer.data) << "not a copy";
  EXPECT_EQ(frame->view.memory, MemoryKind::kPlain);
  EXPECT_EQ(rig.pool.bytes(), 0U);
}

struct Layout {
  std::uint32_t code;
  int width;
  int height;
  std::uint32_t padding;
  std::array<int, 3> pitch;
  std::array<int, 3> offset;
};

TEST(CameraFrames, HaveThePlanesOfTheirFormat) {
  const Layout layouts[] = {
      {V4L2_PIX_FMT_YUYV, 32, 8, 0, {64}, {0}},
      {V4L2_PIX_FMT_UYVY, 32, 8, 16, {80}, {0}},
      {V4L2_PIX_FMT_RGB24, 31, 7, 3, {96}, {0}},
      {V4L2_PIX_FMT_BGR24, 31, 7, 0, {93}, {0}},
      {V4L2_PIX_FMT_GREY, 31, 7, 1, {32}, {0}},
      {V4L2_PIX_FMT_NV12, 32, 8, 32, {64, 64}, {0, 512}},
      {V4L2_PIX_FMT_NV12, 32, 7, 0, {32, 32}, {0, 224}},
      {V4L2_PIX_FMT_YUV420, 32, 8, 32, {64, 32, 32}, {0, 512, 640}},
      {V4L2_PIX_FMT_YUV420, 32, 7, 0, {32, 16, 16}, {0, 224, 288}},
      {V4L2_PIX_FMT_YUV420, 31, 7, 0, {31, 16, 16}, {0, 217, 281}},
      {V4L2_PIX_FMT_YUYV, 31, 7, 0, {64}, {0}},
  };
  for (const Layout& layout : layouts) {
    FakeCamera camera =
        of_format(layout.code, static_cast<std::uint32_t>(layout.width), static_cast<std::uint32_t>(layout.height));
    camera.padding = layout.padding;
    CameraRig rig(camera);
    const auto frame = rig.frame();
    ASSERT_TRUE(frame) << rig.last.message;
    EXPECT_NO_THROW(check_readable(frame->view)) << four_characters(layout.code);
    EXPECT_EQ(frame->view.width, layout.width);
    EXPECT_EQ(frame->view.height, layout.height);
    EXPECT_EQ(frame->view.pitch_bytes, layout.pitch) << four_characters(layout.code);
    EXPECT_TRUE(is_frame(*frame, 0)) << four_characters(layout.code);
    const auto* data = reinterpret_cast<const std::uint8_t*>(frame->lease.buffer().data);
    for (std::size_t i = 0; i < 3 && frame->view.planes[i] != nullptr; ++i)
      EXPECT_EQ(frame->view.planes[i] - data, layout.offset[i]) << four_characters(layout.code) << " plane " << i;
  }
}

TEST(CameraFrames, HaveTheColoursOfTheDriver) {
  struct Colours {
    std::uint32_t code;
    std::uint32_t colorspace;
    std::uint32_t matrix;
    std::uint32_t range;
    ColorMatrix expected_matrix;
    ColorRange expected_range;
  };
  constexpr auto kDefault = static_cast<std::uint32_t>(V4L2_QUANTIZATION_DEFAULT);
  const Colours cases[] = {
      {V4L2_PIX_FMT_YUYV, V4L2_COLORSPACE_SRGB, 0, kDefault, ColorMatrix::kBt601, ColorRange::kLimited},
      {V4L2_PIX_FMT_YUYV, V4L2_COLORSPACE_SMPTE170M, 0, kDefault, ColorMatrix::kBt601, ColorRange::kLimited},
      {V4L2_PIX_FMT_YUYV, V4L2_COLORSPACE_REC709, 0, kDefault, ColorMatrix::kBt709, ColorRange::kLimited},
      {V4L2_PIX_FMT_YUYV, V4L2_COLORSPACE_BT2020, 0, kDefault, ColorMatrix::kBt2020, ColorRange::kLimited},
      {V4L2_PIX_FMT_YUYV, V4L2_COLORSPACE_JPEG, 0, kDefault, ColorMatrix::kBt601, ColorRange::kFull},
      {V4L2_PIX_FMT_YUYV, V4L2_COLORSPACE_SRGB, V4L2_YCBCR_ENC_709, V4L2_QUANTIZATION_FULL_RANGE, ColorMatrix::kBt709,
       ColorRange::kFull},
      {V4L2_PIX_FMT_YUYV, V4L2_COLORSPACE_JPEG, V4L2_YCBCR_ENC_BT2020, V4L2_QUANTIZATION_LIM_RANGE,
       ColorMatrix::kBt2020, ColorRange::kLimited},
      {V4L2_PIX_FMT_RGB24, V4L2_COLORSPACE_SRGB, 0, kDefault, ColorMatrix::kBt601, ColorRange::kFull},
      {V4L2_PIX_FMT_RGB24, V4L2_COLORSPACE_SRGB, 0, V4L2_QUANTIZATION_LIM_RANGE, ColorMatrix::kBt601,
       ColorRange::kLimited},
  };
  for (const Colours& each : cases) {
    FakeCamera camera = of_format(each.code, 32, 8);
    camera.colorspace = each.colorspace;
    camera.matrix = each.matrix;
    camera.range = each.range;
    CameraRig rig(camera);
    const auto frame = rig.frame();
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->view.matrix, each.expected_matrix) << &each - cases;
    EXPECT_EQ(frame->view.range, each.expected_range) << &each - cases;
  }
}

TEST(CameraFrames, AreHeldUntilTheirLeaseEnds) {
  FakeCamera camera;
  camera.change = [](test::FakeFrame& frame) { frame.flags = V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC; };
  CameraRig rig(camera);
  std::map<int, Frame> held;
  for (int i = 0; i < 60; ++i) {
    auto frame = rig.frame();
    ASSERT_TRUE(frame) << i;
    // Two are held for ten frames each; the driver has the other two.
    for (const auto& [number, each] : held) EXPECT_TRUE(is_frame(each, number)) << number << " at " << i;
    if (i % 5 == 0) held.emplace(i, std::move(*frame));
    if (held.size() == 3) held.erase(held.begin());
  }
  held.clear();
}

TEST(CameraFrames, OutliveTheReader) {
  auto calls = std::make_shared<FakeCalls>();
  std::optional<Frame> frame;
  {
    saccade::FramePool pool(4);
    const auto reader = open_camera("0", {}, calls);
    auto outcome = reader->read(pool);
    ASSERT_TRUE(outcome);
    frame = std::move(*outcome);
  }
  EXPECT_EQ(calls->open_descriptors(), 0);
  EXPECT_EQ(calls->mappings(), 4) << "the buffers are freed together";
  EXPECT_TRUE(is_frame(*frame, 0));
  frame.reset();
  EXPECT_EQ(calls->mappings(), 0);
}

TEST(CameraFrames, OutliveAnUnpluggedDevice) {
  CameraRig rig;
  const auto first = rig.frame();
  const auto second = rig.frame();
  rig.calls->unplug(FakeCalls::kNode);
  EXPECT_EQ(rig.read().failure().status, Status::kTimeout);
  EXPECT_TRUE(is_frame(*first, 0));
  rig.calls->plug(FakeCalls::kNode, rig.camera);
  {
    const auto third = rig.frame();
    ASSERT_TRUE(third);
    EXPECT_EQ(third->sequence, 2);
    EXPECT_TRUE(is_frame(*third, 2));
    EXPECT_TRUE(is_frame(*second, 1));
    EXPECT_EQ(rig.calls->mappings(), 8) << "those of the first device are still read";
  }
  rig.reader.reset();
  EXPECT_EQ(rig.calls->mappings(), 4);
  EXPECT_TRUE(is_frame(*first, 0));
}

/// However many frames a pipeline holds.
TEST(CameraFrames, AreCopiedWhereTheDriverWouldHaveNoBuffer) {
  CameraRig rig({}, "0?io=mmap&buffers=4", MemoryKind::kPlain, 8);
  std::vector<Frame> held;
  for (int i = 0; i < 10; ++i) {
    held.push_back(std::move(*rig.frame()));
    EXPECT_GE(rig.camera->queued.size() + rig.camera->done.size(), 2U);
    EXPECT_EQ(held.back().sequence, i);
  }
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(is_frame(held[static_cast<std::size_t>(i)], i));
  EXPECT_FALSE(rig.frame()) << "the pool is empty";
  EXPECT_EQ(rig.last.status, Status::kNoBuffer);
  held.clear();
  EXPECT_EQ(rig.frame()->sequence, 11);
}

TEST(CameraFrames, MissingWhileAllBuffersAreLentHadNoBuffer) {
  CameraRig rig({}, "0?io=userptr", MemoryKind::kPlain, 4);
  std::vector<Frame> held;
  for (int i = 0; i < 4; ++i) held.push_back(std::move(*rig.frame()));
  EXPECT_EQ(rig.camera->queued.size(), 0U);
  rig.calls->at(rig.calls->elapsed() + milliseconds(350), [&] { held.clear(); });
  std::vector<Status> statuses;
  for (;;) {
    Outcome<Frame> outcome = rig.read();
    if (outcome) {
      // 10 periods of 33 ms passed, and one until the reader looks at the pool.
      EXPECT_EQ(outcome->sequence, 15);
      EXPECT_TRUE(is_frame(*outcome, 15));
      break;
    }
    statuses.push_back(outcome.failure().status);
  }
  EXPECT_EQ(statuses, std::vector(11, Status::kNoBuffer));
  EXPECT_EQ(rig.reader->faults().restarts, 0) << "which is no fault of the camera";
}

TEST(CameraFrames, HeldForLongAreNoStall) {
  CameraRig rig({}, "0?io=userptr", MemoryKind::kPlain, 4);
  std::vector<Frame> held;
  for (int i = 0; i < 4; ++i) held.push_back(std::move(*rig.frame()));
  rig.calls->at(std::chrono::seconds(60), [&] { held.clear(); });
  const Outcome<Frame> outcome = rig.read();
  EXPECT_EQ(outcome.failure().status, Status::kNoBuffer);
  EXPECT_EQ(rig.reader->faults().restarts, 0);
  EXPECT_LT(rig.calls->waits(), 5000) << "one per period";
}

TEST(CameraFrames, MissingOtherwiseAreAGap) {
  FakeCamera camera;
  camera.change = [](test::FakeFrame& frame) { frame.is_lost = frame.number >= 2 && frame.number < 5; };
  CameraRig rig(camera);
  EXPECT_EQ(rig.frame()->sequence, 0);
  EXPECT_EQ(rig.frame()->sequence, 1);
  EXPECT_EQ(rig.frame()->sequence, 5);
}

TEST(CameraFrames, DamagedOnesAreCorrupt) {
  FakeCamera camera;
  camera.change = [](test::FakeFrame& frame) {
    if (frame.number == 1) frame.bytes -= 1;
    if (frame.number == 2) frame.flags |= V4L2_BUF_FLAG_ERROR;
    if (frame.number == 3) frame.bytes += 1;
    if (frame.number == 4) frame.index = 4;
    if (frame.number == 5) frame.index = 1U << 31;
    if (frame.number == 6) frame.bytes = 0;
  };
  CameraRig rig(camera, "0?buffers=8");
  ASSERT_TRUE(rig.frame());
  const auto expect_corrupt = [&rig](const std::string& why) {
    const Outcome<Frame> outcome = rig.read();
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.failure().status, Status::kCorrupt);
    EXPECT_EQ(outcome.failure().message, "0?buffers=8 (HD Webcam): " + why);
  };
  expect_corrupt("a frame has 614399 bytes instead of 614400");
  expect_corrupt("a frame is damaged, says its driver");
  expect_corrupt("a frame has 614401 bytes instead of 614400");
  std::ignore = rig.read();  // another buffer than the filled one
  expect_corrupt("its driver returned a buffer that it does not have");
  expect_corrupt("a frame has 0 bytes instead of 614400");
  const auto frame = rig.frame();
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->sequence, 7) << "each has a number";
}

TEST(CameraFrames, TheLastRowNeedsNoPadding) {
  FakeCamera camera = of_format(V4L2_PIX_FMT_YUYV, 32, 8);
  camera.padding = 64;
  camera.image_bytes = 128 * 7 + 64;
  CameraRig rig(camera);
  EXPECT_TRUE(rig.frame());
}

}  // namespace
}  // namespace saccade::v4l2
