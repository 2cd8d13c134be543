#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "media/v4l2/camera_rig.hpp"

namespace saccade::v4l2 {
namespace {

using test::FakeCalls;
using test::FakeCamera;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// Why the camera can't be opened; nothing of it stays open.
std::string opening_refusal(FakeCamera camera, const std::string& uri = FakeCalls::kNode) {
  return test::refusal_of([&] { const test::CameraRig rig(std::move(camera), uri); });
}

FakeCamera with_error(std::uint64_t request, int error) {
  FakeCamera camera;
  camera.all_errors[request] = error;
  return camera;
}

FakeCamera with_capabilities(std::uint32_t capabilities) {
  FakeCamera camera;
  camera.capabilities = capabilities;
  return camera;
}

TEST(OpenCamera, HasItsNameModeAndRate) {
  const test::CameraRig rig({}, "0?fps=30");
  const SourceInfo& info = rig.reader->info();
  EXPECT_EQ(info.name, "0?fps=30");
  EXPECT_TRUE(info.live);
  EXPECT_EQ(info.frame_rate, 30);
  EXPECT_EQ(info.width, 640);
  EXPECT_EQ(info.height, 480);
  EXPECT_EQ(rig.calls->open_descriptors(), 1);
}

TEST(OpenCamera, AMissingOneIsNamedWithThoseThatThereAre) {
  EXPECT_EQ(opening_refusal({}, "/dev/video7"),
            "not found: there is no camera '/dev/video7'; the cameras are /dev/video0 (HD Webcam)");
  EXPECT_EQ(opening_refusal(with_capabilities(V4L2_CAP_META_CAPTURE | V4L2_CAP_STREAMING), "7"),
            "not found: there is no camera '/dev/video7'; no camera is connected, or none may be opened");
}

TEST(OpenCamera, AForbiddenOneSaysHowItIsAllowed) {
  FakeCamera camera;
  camera.open_error = -EACCES;
  EXPECT_THAT(opening_refusal(camera),
              AllOf(StartsWith("input or output: the camera '/dev/video0' may not be opened: Permission denied"),
                    HasSubstr("sudo usermod -aG video")));
}

TEST(OpenCamera, ABusyOneIsSaidToBeInUse) {
  FakeCamera camera;
  camera.open_error = -EBUSY;
  EXPECT_EQ(opening_refusal(camera), "device: the camera '/dev/video0' is in use by another program: end that");
  for (const std::uint64_t request : {VIDIOC_S_FMT, VIDIOC_REQBUFS, VIDIOC_S_PARM})
    EXPECT_EQ(opening_refusal(with_error(request, -EBUSY)),
              "device: /dev/video0 (HD Webcam) is in use by another program: end that");
}

TEST(OpenCamera, ANodeThatDoesNotCaptureIsNamed) {
  EXPECT_THAT(opening_refusal(with_capabilities(V4L2_CAP_META_CAPTURE | V4L2_CAP_STREAMING)),
              StartsWith("invalid argument: /dev/video0 (HD Webcam) does not capture video"));
  EXPECT_THAT(opening_refusal(with_capabilities(V4L2_CAP_VIDEO_CAPTURE_MPLANE | V4L2_CAP_STREAMING)),
              StartsWith("unsupported: /dev/video0 (HD Webcam) has a multi-planar interface only"));
  EXPECT_THAT(opening_refusal(with_capabilities(V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_READWRITE)),
              StartsWith("unsupported: /dev/video0 (HD Webcam) can't stream"));
  EXPECT_EQ(opening_refusal(with_error(VIDIOC_QUERYCAP, -ENOTTY)),
            "invalid argument: '/dev/video0' is not a camera; no camera is connected, or none may be opened");
}

TEST(OpenCamera, AnUnknownModeIsRefusedWithThoseThatThereAre) {
  FakeCamera camera;
  camera.formats = {{V4L2_PIX_FMT_YUYV, {{640, 480, {{1, 30}, {1, 15}}, {}}, {1280, 720, {{1, 10}}, {}}}, {}}};
  EXPECT_EQ(
      opening_refusal(camera, "0?size=800x600&fps=30&format=YUYV"),
      "invalid argument: /dev/video0 (HD Webcam) has no mode size=800x600&fps=30&format=YUYV; it has 640x480 YUYV "
      "at 30, 15 fps; 1280x720 YUYV at 10 fps");
  EXPECT_THAT(opening_refusal(camera, "0?fps=20"), HasSubstr("has no mode fps=20; it has "));
}

TEST(OpenCamera, OfARangeOfModesUsualOnesAreListed) {
  FakeCamera camera;
  camera.formats = {{V4L2_PIX_FMT_YUYV,
                     {{640, 480, {}, v4l2_frmival_stepwise{{1, 30}, {1, 20}, {1, 1000}}}},
                     v4l2_frmsize_stepwise{16, 650, 2, 16, 490, 2}}};
  EXPECT_THAT(opening_refusal(camera, "0?size=2000x2000"),
              HasSubstr("; it has 320x240 YUYV at 30, 25 fps; 640x360 YUYV at 30, 25 fps; 640x480 YUYV at 30, 25 fps; "
                        "650x490 YUYV at 30, 25 fps"));
}

TEST(OpenCamera, WithoutAFormatThatCanBeReadItIsUnsupported) {
  FakeCamera camera;
  camera.formats = {{V4L2_PIX_FMT_H264, {{}}, {}}};
  EXPECT_THAT(opening_refusal(camera),
              AllOf(StartsWith("unsupported: /dev/video0 (HD Webcam) has none of the formats that "),
                    EndsWith("; it has H264")));
  camera.formats = {{V4L2_PIX_FMT_H264, {{}}, {}}, {0x01020304, {{}}, {}}};
  EXPECT_THAT(opening_refusal(camera), EndsWith("; it has H264, 0x01020304"));
}

TEST(OpenCamera, WhatTheDriverRefusesIsNamed) {
  EXPECT_EQ(opening_refusal(with_error(VIDIOC_S_FMT, -EINVAL)),
            "device: /dev/video0 (HD Webcam): its format can't be set: Invalid argument");
  EXPECT_EQ(opening_refusal(with_error(VIDIOC_REQBUFS, -ENOMEM)),
            "device: /dev/video0 (HD Webcam): its driver refuses buffers: Cannot allocate memory");
  EXPECT_EQ(opening_refusal(with_error(VIDIOC_QUERYBUF, -EIO)),
            "device: /dev/video0 (HD Webcam): its buffers can't be found: Input/output error");
  EXPECT_EQ(opening_refusal(with_error(VIDIOC_S_FMT, -ENODEV)), "device: /dev/video0 (HD Webcam) was unplugged");
  FakeCamera camera;
  camera.most_buffers = 1;
  camera.fewest_buffers = 1;
  EXPECT_EQ(opening_refusal(camera), "device: /dev/video0 (HD Webcam): its driver has 1 buffers only");
}

TEST(OpenCamera, BuffersThatWereMappedAreUnmappedIfAnotherCantBe) {
  FakeCamera camera;
  camera.unmappable = 2;
  EXPECT_EQ(opening_refusal(camera), "device: /dev/video0 (HD Webcam): its buffers can't be mapped");
}

TEST(OpenCamera, TooSmallBuffersAreRefused) {
  FakeCamera camera;
  camera.image_bytes = 1000;
  EXPECT_EQ(opening_refusal(camera),
            "device: /dev/video0 (HD Webcam): its driver announces buffers of 1000 bytes for frames of 614400");
}

TEST(OpenCamera, ARateThatCantBeSetIsRefused) {
  FakeCamera camera;
  camera.has_interval = false;
  camera.formats = {{V4L2_PIX_FMT_YUYV, {{640, 480, {}, {}}}, {}}};
  EXPECT_EQ(opening_refusal(camera, "0?fps=100"),
            "invalid argument: /dev/video0 (HD Webcam): fps=100 can't be set: its driver has no frame rates");
  const test::CameraRig rig(camera);
  EXPECT_EQ(rig.reader->info().frame_rate, 0) << "unknown";
}

TEST(OpenCamera, TheRateIsThatOfTheDriver) {
  FakeCamera camera;
  camera.has_interval = false;
  const test::CameraRig rig(camera, "0?fps=30");
  EXPECT_EQ(rig.reader->info().frame_rate, 30) << "the mode's only one";
}

TEST(OpenCamera, AnUnknownOptionIsRefusedBeforeTheDeviceIsOpened) {
  EXPECT_THAT(opening_refusal({}, "9?fps=x"), StartsWith("invalid argument: /dev/video9: 'fps=x'"));
}

TEST(OpenCamera, OfTheModelsSizeTheBestModeIsChosen) {
  FakeCamera camera;
  camera.formats = {{V4L2_PIX_FMT_YUYV, {{320, 240}, {640, 480}, {1280, 720}}, {}}};
  const auto calls = std::make_shared<FakeCalls>(camera);
  EXPECT_EQ(open_camera("0", {224, 224}, calls)->info().width, 320);
  EXPECT_EQ(open_camera("0", {640, 640}, calls)->info().width, 640);
  EXPECT_EQ(open_camera("0", {1280, 1280}, calls)->info().width, 1280);
}

}  // namespace
}  // namespace saccade::v4l2
