#include "media/v4l2/camera_options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "media/v4l2/camera_rig.hpp"
#include "support/temp_folder.hpp"

namespace saccade::v4l2 {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string options_refusal(const std::string& uri) {
  return test::refusal_of([&] { parse_camera(uri); });
}

class WorkingFolder {
 public:
  explicit WorkingFolder(const std::string& path) : before_(std::filesystem::current_path()) {
    std::filesystem::current_path(path);
  }
  ~WorkingFolder() { std::filesystem::current_path(before_); }
  WorkingFolder(const WorkingFolder&) = delete;
  WorkingFolder& operator=(const WorkingFolder&) = delete;

 private:
  std::filesystem::path before_;
};

TEST(IsCamera, KnowsNumbersAndPathsOfDevices) {
  for (const char* uri :
       {"/dev/video0", "/dev/video17", "/dev/video0?fps=30", "/dev/video0?size=640x480&fps=5", "0", "12", "0?fps=30",
        "/dev/v4l/by-id/usb-046d_HD_Webcam-video-index0", "/dev/v4l/by-path/x?fps=30", "/dev/video3?fps"})
    EXPECT_TRUE(is_camera(uri)) << uri;
}

TEST(IsCamera, LeavesFilesAndPatternsToOthers) {
  for (const char* uri : {"",
                          "/dev/video",
                          "/dev/videos",
                          "/dev/video0x",
                          "/dev/video*",
                          "/dev/video?",
                          "/dev/video1?",
                          "/dev/video[01]",
                          "/dev/v4l/by-id/*",
                          "a.mp4",
                          "./0",
                          "0.jpg",
                          "0?",
                          "1?.png",
                          "0?x",
                          "-1",
                          "/dev/null",
                          "/tmp",
                          "video0",
                          "synthetic:?fps=3",
                          "rtsp://0"})
    EXPECT_FALSE(is_camera(uri)) << uri;
}

TEST(IsCamera, AFileWhoseNameIsANumberIsNone) {
  const test::TempFolder folder;
  folder.write("0", "x");
  folder.write("1?fps=30", "x");
  std::filesystem::create_symlink("nothing", folder / "2");
  const WorkingFolder inside(folder.string());
  EXPECT_FALSE(is_camera("0"));
  EXPECT_FALSE(is_camera("0?fps=30"));
  EXPECT_FALSE(is_camera("1?fps=30"));
  EXPECT_TRUE(is_camera("1"));
  EXPECT_FALSE(is_camera("2")) << "a link, even to nothing";
  EXPECT_TRUE(is_camera("3"));
}

TEST(CameraOptions, HaveDefaults) {
  const CameraOptions options = parse_camera("/dev/video2");
  EXPECT_EQ(options.uri, "/dev/video2");
  EXPECT_EQ(options.path, "/dev/video2");
  EXPECT_EQ(options.width, 0);
  EXPECT_EQ(options.rate, 0);
  EXPECT_EQ(options.format, nullptr);
  EXPECT_EQ(options.io, CameraIo::kAuto);
  EXPECT_EQ(options.buffers, 4);
  EXPECT_TRUE(options.controls.empty());
  EXPECT_EQ(parse_camera("7").path, "/dev/video7");
  EXPECT_EQ(parse_camera("7?fps=3").path, "/dev/video7");
  EXPECT_EQ(parse_camera("/dev/video0?").path, "/dev/video0");
}

TEST(CameraOptions, AreRead) {
  const CameraOptions options =
      parse_camera("/dev/v4l/by-id/x?size=1280x720&fps=29.97&format=yuyv&io=userptr&buffers=32&brightness=-5&gain=max");
  EXPECT_EQ(options.path, "/dev/v4l/by-id/x");
  EXPECT_EQ(options.width, 1280);
  EXPECT_EQ(options.height, 720);
  EXPECT_EQ(options.rate, 29.97);
  ASSERT_NE(options.format, nullptr);
  EXPECT_EQ(options.format->name, "YUYV");
  EXPECT_EQ(options.io, CameraIo::kUserptr);
  EXPECT_EQ(options.buffers, 32);
  ASSERT_EQ(options.controls.size(), 2U) << "what is no option is a control";
  EXPECT_EQ(options.controls[0].name, "brightness");
  EXPECT_EQ(options.controls[0].value, "-5");
  EXPECT_EQ(options.controls[1].value, "max");
}

TEST(CameraOptions, RefuseWrongValues) {
  for (const char* wrong :
       {"size=640",       "size=x480",    "size=640x", "size=640x480x2", "size=0x480",  "size=640x-1",
        "size=99999x480", "size=640X480", "fps=0",     "fps=-3",         "fps=x",       "fps=30fps",
        "fps=1e9",        "fps=nan",      "fps=inf",   "fps=",           "format=H264", "format=",
        "io=dma",         "io=",          "io=MMAP",   "buffers=1",      "buffers=33",  "buffers=2.5",
        "buffers=",       "=3",           "fps",       "fps=1&fps=2",    "a=1&a=1"}) {
    const std::string refusal = options_refusal(std::string("/dev/video0?") + wrong);
    EXPECT_THAT(refusal, StartsWith("invalid argument: /dev/video0: ")) << wrong;
  }
}

TEST(CameraOptions, AWrongOneIsNamedWithItsValues) {
  EXPECT_THAT(options_refusal("3?format=H264"),
              StartsWith("invalid argument: /dev/video3: 'format=H264': format must be one of NV12, YU12, YUYV, UYVY, "
                         "422P, RGB24, BGR24, MJPEG, JPEG, RGGB, GRBG, GBRG, BGGR, GREY; the options are size=WxH, "));
  EXPECT_THAT(options_refusal("3?buffers=99"), HasSubstr("'buffers=99': buffers must be an integer from 2 to 32"));
  EXPECT_THAT(options_refusal("3?io=dma"), HasSubstr("io must be auto, mmap or userptr"));
  EXPECT_THAT(options_refusal("3?fps=1&fps=2"), HasSubstr("the option 'fps' is given twice"));
  EXPECT_THAT(options_refusal("3?fps"), HasSubstr("'fps' is not NAME=VALUE"));
}

TEST(CameraFormats, HaveTheirNamesAndFourCharacters) {
  for (const CameraFormat& format : camera_formats()) {
    EXPECT_EQ(find_format(format.name), &format);
    EXPECT_EQ(find_format(format.code), &format);
    EXPECT_EQ(find_format(four_characters(format.code)), &format) << format.name;
  }
  EXPECT_EQ(find_format("rgb3")->name, "RGB24");
  EXPECT_EQ(find_format("MJPG")->name, "MJPEG");
  EXPECT_EQ(find_format("mjpeg")->name, "MJPEG");
  EXPECT_EQ(find_format("grey")->pixels, PixelFormat::kGray8);
  EXPECT_EQ(find_format("YUY"), nullptr);
  EXPECT_EQ(find_format(""), nullptr);
  EXPECT_EQ(find_format(0U), nullptr);
}

TEST(CameraFormats, TextsOfCodesArePrintable) {
  EXPECT_EQ(four_characters(v4l2_fourcc('Y', '1', '6', ' ')), "Y16");
  EXPECT_EQ(four_characters(v4l2_fourcc_be('Y', '1', '6', ' ')), "Y16");
  EXPECT_EQ(four_characters(1), "0x00000001") << "no characters";
  EXPECT_EQ(four_characters(v4l2_fourcc('N', 'V', '1', '2') | 0x8000U), "0x3231d64e") << "no ASCII";
}

}  // namespace
}  // namespace saccade::v4l2
