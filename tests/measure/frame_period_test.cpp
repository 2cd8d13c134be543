#include "measure/limits/frame_period.hpp"

#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "base/error.hpp"

namespace saccade {
namespace {

using Milliseconds = std::chrono::duration<double, std::milli>;

// The worked example of a roofline study of a camera at 90 frames per second (docs/limits.md).
FramePeriod published_example() {
  const CameraMode camera = parse_camera("320x240@90:YUYV");
  return frame_period(camera, {{"capture", Milliseconds(12.2), bus_bound(camera, 60e6)},
                               {"inference", Milliseconds(9.4), Milliseconds(0.2)}});
}

TEST(FramePeriod, ReproducesThePublishedExample) {
  const FramePeriod found = published_example();
  EXPECT_NEAR(to_milliseconds(found.period), 11.11, 0.005);
  EXPECT_NEAR(to_milliseconds(found.processing), 21.6, 1e-9);
  EXPECT_NEAR(to_milliseconds(found.deficit), 10.49, 0.005);
  EXPECT_NEAR(to_milliseconds(found.accumulated), 1049, 0.5);
  EXPECT_EQ(found.frames_lost, 94);
  EXPECT_NEAR(found.effective_rate, 46.3, 0.05);
  EXPECT_NEAR(found.efficiency, 11.111 / 21.6, 1e-4);
  EXPECT_EQ(found.slack.count(), 0);
}

TEST(FramePeriod, NamesTheStageWithTheMostHeadroom) {
  // 153,600 bytes at 60 MB/s are 2.56 ms, a fifth of the capture; the inference needs a fiftieth.
  EXPECT_NEAR(to_milliseconds(published_example().stages[0].bound), 2.56, 1e-9);
  EXPECT_EQ(published_example().most_headroom, "inference");
  const CameraMode camera = parse_camera("8x8@10:gray8");
  EXPECT_EQ(frame_period(camera, {{"capture", Milliseconds(1)}}).most_headroom, "");
}

TEST(FramePeriod, HasSlackIfProcessingKeepsUp) {
  const FramePeriod found = frame_period(parse_camera("640x480@50:nv12"), {{"inference", Milliseconds(8)}}, 30);
  EXPECT_NEAR(to_milliseconds(found.slack), 12, 1e-9);
  EXPECT_EQ(found.deficit.count(), 0);
  EXPECT_EQ(found.frames_lost, 0);
  EXPECT_EQ(found.efficiency, 1);
  EXPECT_EQ(found.effective_rate, 50);
}

TEST(CameraMode, IsRead) {
  const CameraMode camera = parse_camera("1280x720@29.97:nv12");
  EXPECT_EQ(camera.frame.width, 1280);
  EXPECT_EQ(camera.frame.height, 720);
  EXPECT_EQ(camera.frame.format, PixelFormat::kNv12);
  EXPECT_EQ(camera.rate, 29.97);
  EXPECT_EQ(camera.frame_bytes(), 1280 * 720 * 3 / 2);
  EXPECT_EQ(to_string(camera), "1280x720@29.97:nv12");
  const CameraMode mosaic = parse_camera("1280x720@30:bayer_rggb8");
  EXPECT_EQ(mosaic.frame.format, PixelFormat::kBayerRggb8);
  EXPECT_EQ(mosaic.frame_bytes(), 1280 * 720);
}

TEST(CameraMode, NonsenseIsRefused) {
  for (const char* text : {"", "320x240", "320x240@90", "0x240@90:yuyv", "320x240@0:yuyv", "320x240@90:mjpeg",
                           "320x240@nan:yuyv", "-320x240@90:yuyv", "320x240@inf:yuyv", "99999x2@9:yuyv"})
    EXPECT_THROW(parse_camera(text), Error) << text;
}

TEST(FrameSize, IsReadAndWritten) {
  const FrameSize frame = parse_frame_size("426x240:BGR24");
  EXPECT_EQ(frame.width, 426);
  EXPECT_EQ(frame.height, 240);
  EXPECT_EQ(frame.format, PixelFormat::kBgr24);
  EXPECT_EQ(to_string(frame), "426x240 bgr24");
  EXPECT_EQ(parse_frame_size("2x1:uyvy").format, PixelFormat::kUyvy);
  for (const char* text : {"", "320x240", "320:yuyv", "0x240:yuyv", "320x240:mjpeg", "320x240@30:yuyv", "99999x2:nv12"})
    EXPECT_THROW(parse_frame_size(text), Error) << text;
}

}  // namespace
}  // namespace saccade
