#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "media/convert.hpp"
#include "media/v4l2/camera_rig.hpp"
#include "media/v4l2/jpeg_writer.hpp"
#include "support/temp_folder.hpp"

namespace saccade::v4l2 {
namespace {

using test::CameraRig;
using test::FakeCamera;
using test::FakeFrame;
using test::JpegShape;
using test::RgbImage;
using ::testing::HasSubstr;

using Bytes = std::vector<std::uint8_t>;

/// A camera whose frames are IMAGES, and the last one from then on.
FakeCamera mjpeg_camera(int width, int height, std::vector<Bytes> images) {
  FakeCamera camera;
  camera.formats = {
      {V4L2_PIX_FMT_MJPEG, {{static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(height)}}, {}}};
  camera.change = [images = std::move(images)](FakeFrame& frame) {
    frame.image = images[std::min(static_cast<std::size_t>(frame.number), images.size() - 1)];
  };
  return camera;
}

RgbImage rgb_of(const FrameView& view) {
  RgbImage image(view.width, view.height);
  to_rgb(view, image.pixels());
  return image;
}

/// JPEG as the reader of images decodes it.
RgbImage by_image_reader(const Bytes& jpeg) {
  const test::TempFolder folder;
  const std::string path = folder.write("a.jpg", std::string(jpeg.begin(), jpeg.end()));
  saccade::FramePool pool(2);
  const Outcome<Frame> frame = open_reader(path)->read(pool);
  EXPECT_TRUE(frame);
  return rgb_of(frame->view);
}

int largest_difference(const RgbImage& a, const RgbImage& b) {
  int largest = a.rgb.size() == b.rgb.size() ? 0 : 256;
  for (std::size_t i = 0; i < std::min(a.rgb.size(), b.rgb.size()); ++i)
    largest = std::max(largest, std::abs(a.rgb[i] - b.rgb[i]));
  return largest;
}

std::string corruption_of(CameraRig& rig) {
  const Outcome<Frame> outcome = rig.read();
  if (outcome) return "a frame";
  EXPECT_EQ(outcome.failure().status, Status::kCorrupt);
  return outcome.failure().message;
}

struct Subsampling {
  JpegShape shape;
  PixelFormat format;
};

TEST(CameraJpeg, IsDecodedToItsPlanes) {
  const Subsampling kinds[] = {{{.across = 2, .down = 2}, PixelFormat::kI420},
                               {{.across = 2, .down = 1}, PixelFormat::kI422},
                               {{.across = 1, .down = 1}, PixelFormat::kI444},
                               {{.is_grey = true}, PixelFormat::kGray8},
                               {{.across = 2, .down = 2, .is_progressive = true}, PixelFormat::kI420},
                               {{.across = 2, .down = 1, .has_own_tables = true}, PixelFormat::kI422}};
  for (const auto& [width, height] : {std::pair(160, 128), {163, 121}, {161, 120}, {400, 33}, {2, 2}}) {
    for (const Subsampling& kind : kinds) {
      RgbImage image = test::gradient(width, height);
      const Bytes jpeg = write_jpeg(image, kind.shape);
      CameraRig rig(mjpeg_camera(width, height, {jpeg}));
      const auto frame = rig.frame();
      ASSERT_TRUE(frame) << rig.last.message;
      EXPECT_EQ(frame->view.format, kind.format);
      EXPECT_EQ(frame->view.width, width);
      EXPECT_EQ(frame->view.height, height);
      EXPECT_EQ(frame->view.matrix, ColorMatrix::kBt601);
      EXPECT_EQ(frame->view.range, ColorRange::kFull);
      EXPECT_NO_THROW(check_readable(frame->view));
      // The image reader interpolates chroma, which changes by 2 per pixel at most; more in the smallest image.
      EXPECT_LE(largest_difference(rgb_of(frame->view), by_image_reader(jpeg)), width == 2     ? 110
                                                                                : height < 100 ? 9
                                                                                               : 5)
          << width << "x" << height << ", format " << static_cast<int>(kind.format);
    }
  }
}

TEST(CameraJpeg, IsInThePoolAndTheDriverHasItsBufferBack) {
  RgbImage image = test::gradient(64, 48);
  CameraRig rig(mjpeg_camera(64, 48, {write_jpeg(image)}), "0?io=userptr");
  std::vector<Frame> held;
  for (int i = 0; i < 8; ++i) held.push_back(std::move(*rig.frame()));
  for (int i = 0; i < 8; ++i) EXPECT_EQ(held[static_cast<std::size_t>(i)].sequence, i);
  EXPECT_EQ(rig.camera->queued.size(), 4U);
  EXPECT_EQ(rig.read().failure().status, Status::kNoBuffer) << "the pool is empty";
  held.clear();
  const auto frame = rig.frame();
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->sequence, 9);
  EXPECT_EQ(rig.camera->user_pointers.size(), 0U);
}

TEST(CameraJpeg, WithoutHuffmanTablesHasTheStandardOnes) {
  RgbImage image = test::gradient(160, 128);
  const Bytes jpeg = write_jpeg(image);
  const Bytes bare = write_jpeg(image, {.has_tables = false});
  ASSERT_LT(bare.size() + 400, jpeg.size());
  CameraRig rig(mjpeg_camera(160, 128, {bare}));
  const auto frame = rig.frame();
  ASSERT_TRUE(frame) << rig.last.message;
  EXPECT_LE(largest_difference(rgb_of(frame->view), by_image_reader(jpeg)), 5);
}

TEST(CameraJpeg, WithoutHuffmanTablesHasNotThoseOfAnImageBefore) {
  RgbImage image = test::gradient(160, 128);
  const Bytes jpeg = write_jpeg(image);
  CameraRig rig(
      mjpeg_camera(160, 128, {write_jpeg(image, {.has_own_tables = true}), write_jpeg(image, {.has_tables = false})}));
  ASSERT_TRUE(rig.frame());
  const auto frame = rig.frame();
  ASSERT_TRUE(frame) << rig.last.message;
  EXPECT_LE(largest_difference(rgb_of(frame->view), by_image_reader(jpeg)), 5);
}

TEST(CameraJpeg, OfAWebcamHasMarkersAndPadding) {
  RgbImage image = test::gradient(160, 128);
  const Bytes jpeg = write_jpeg(image);
  const auto with = [&](std::initializer_list<std::uint8_t> segment, std::size_t padding) {
    Bytes bytes(jpeg.begin(), jpeg.begin() + 2);
    bytes.insert(bytes.end(), segment);
    bytes.insert(bytes.end(), jpeg.begin() + 2, jpeg.end());
    bytes.resize(bytes.size() + padding);
    return bytes;
  };
  CameraRig rig(mjpeg_camera(160, 128,
                             {with({0xFF, 0xE0, 0, 8, 'A', 'V', 'I', '1', 0, 0}, 0),
                              with({0xFF, 0xFE, 0, 4, 'x', 'y'}, 100), with({0xFF, 0xEF, 0, 2}, 1)}));
  for (int i = 0; i < 3; ++i) {
    const auto frame = rig.frame();
    ASSERT_TRUE(frame) << rig.last.message;
    EXPECT_LE(largest_difference(rgb_of(frame->view), by_image_reader(jpeg)), 5);
  }
}

TEST(CameraJpeg, ThatIsDamagedIsCorruptAndTheNextIsNot) {
  RgbImage image = test::gradient(160, 128);
  const Bytes whole = write_jpeg(image);
  std::vector<Bytes> images;
  for (const std::size_t size : {whole.size() - 2, whole.size() / 2, std::size_t{100}, std::size_t{1}}) {
    images.emplace_back(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    images.push_back(whole);
  }
  images.emplace_back(1000, std::uint8_t{0});
  images.push_back(whole);
  const std::size_t count = images.size();
  CameraRig rig(mjpeg_camera(160, 128, std::move(images)));
  for (std::size_t i = 0; i < count; i += 2) {
    EXPECT_THAT(corruption_of(rig), HasSubstr("/dev/video0 (HD Webcam): ")) << i;
    const auto frame = rig.frame();
    ASSERT_TRUE(frame) << i << rig.last.message;
    EXPECT_EQ(frame->sequence, static_cast<std::int64_t>(i) + 1);
    EXPECT_LE(largest_difference(rgb_of(frame->view), by_image_reader(whole)), 5);
  }
}

TEST(CameraJpeg, OfOtherPlanesOrAnotherSizeIsCorrupt) {
  RgbImage image = test::gradient(160, 128);
  RgbImage small = test::gradient(80, 64);
  RgbImage large = test::gradient(320, 256);
  CameraRig rig(mjpeg_camera(160, 128,
                             {write_jpeg(image, {.across = 1, .down = 2}), write_jpeg(image, {.across = 4, .down = 1}),
                              write_jpeg(image, {.is_rgb = true, .across = 1, .down = 1}), write_jpeg(small),
                              write_jpeg(large), write_jpeg(image)}));
  for (int i = 0; i < 3; ++i) EXPECT_THAT(corruption_of(rig), HasSubstr("other planes than 4:2:0, 4:2:2, 4:4:4 and"));
  EXPECT_THAT(corruption_of(rig), HasSubstr("a frame has 80x64 pixels instead of 160x128"));
  EXPECT_THAT(corruption_of(rig), HasSubstr("a frame has 320x256 pixels instead of 160x128"));
  EXPECT_TRUE(rig.frame());
}

}  // namespace
}  // namespace saccade::v4l2
