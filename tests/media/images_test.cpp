#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <utility>

#include "base/module.hpp"
#include "media/frame_reader.hpp"
#include "media/images.hpp"
#include "media/modules.hpp"
#include "media/v4l2/jpeg_writer.hpp"
#include "support/frames.hpp"
#include "support/temp_folder.hpp"

namespace saccade {
namespace {

using test::FramePool;
using test::RgbImage;
using test::TempFolder;
using test::with_orientation;

/// A pool whose frames may take LIMIT bytes.
class SmallPool final : public FrameAllocator {
 public:
  explicit SmallPool(std::size_t limit) : limit_(limit) {}
  FrameLease acquire(std::size_t bytes) override { return pool_.acquire(bytes); }
  FrameLease try_acquire(std::size_t bytes) override { return pool_.try_acquire(bytes); }
  void release(FrameBuffer& buffer) noexcept override { pool_.release(buffer); }
  void take(std::size_t bytes) override {
    if (bytes > limit_) throw Error(ErrorCode::kUnsupported, "more than the limit");
    taken += bytes;
    most = std::max(most, taken);
  }
  void give_back(std::size_t bytes) noexcept override { taken -= bytes; }

  std::size_t taken = 0;
  std::size_t most = 0;  ///< at a time

 private:
  std::size_t limit_;
  FramePool pool_;
};

Outcome<Frame> read_one(const std::string& path, FramePool& pool) { return open_reader(path)->read(pool); }

const std::uint8_t* pixel(const Frame& frame, int x, int y) {
  return frame.view.planes[0] + static_cast<std::ptrdiff_t>(y) * frame.view.pitch_bytes[0] + 3 * x;
}

std::string message_of(const std::string& uri) {
  try {
    open_reader(uri);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Images, PngComesBackExactly) {
  const TempFolder folder;
  RgbImage image = test::gradient(37, 21);
  write_image(folder / "a.png", image.view());
  FramePool pool;

  const auto frame = read_one(folder / "a.png", pool);

  ASSERT_TRUE(frame) << frame.failure().message;
  ASSERT_EQ(frame->view.width, 37);
  ASSERT_EQ(frame->view.height, 21);
  EXPECT_EQ(frame->view.format, PixelFormat::kRgb24);
  EXPECT_EQ(frame->view.range, ColorRange::kFull);
  for (int y = 0; y < 21; ++y)
    EXPECT_TRUE(std::equal(image.at(0, y), image.at(0, y) + 3 * 37, pixel(*frame, 0, y))) << "row " << y;
}

TEST(Images, JpegComesBackWithinItsLoss) {
  const TempFolder folder;
  RgbImage image = test::gradient(64, 48);
  write_image(folder / "a.jpg", image.view());
  FramePool pool;

  const auto frame = read_one(folder / "a.jpg", pool);

  ASSERT_TRUE(frame) << frame.failure().message;
  for (int y = 0; y < 48; ++y)
    for (int x = 0; x < 64; ++x)
      for (int c = 0; c < 3; ++c) ASSERT_NEAR(pixel(*frame, x, y)[c], image.at(x, y)[c], 12) << x << "," << y;
}

TEST(Images, FormatIsDetectedByContentNotByExtension) {
  const TempFolder folder;
  RgbImage image = test::flat(8, 8, 10, 200, 30);
  write_image(folder / "a.png", image.view());
  std::filesystem::rename(folder / "a.png", folder / "a.jpg");
  FramePool pool;

  const auto frame = read_one(folder / "a.jpg", pool);

  ASSERT_TRUE(frame) << frame.failure().message;
  EXPECT_EQ(pixel(*frame, 3, 3)[1], 200);
}

TEST(Images, AnImageIsOneFrameWithItsIdentity) {
  const TempFolder folder;
  RgbImage image = test::flat(8, 6, 1, 2, 3);
  write_image(folder / "000000000139.png", image.view());
  FramePool pool;

  const auto reader = open_reader(folder / "000000000139.png");
  EXPECT_EQ(reader->info().frames, 1);
  EXPECT_EQ(reader->info().width, 8);
  EXPECT_EQ(reader->info().height, 6);
  const auto frame = reader->read(pool);

  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->image_id, 139);
  EXPECT_EQ(frame->name, "000000000139.png");
  EXPECT_EQ(frame->sequence, 0);
  EXPECT_EQ(reader->read(pool).failure().status, Status::kEnd);
}

// The stored image is 16 wide and 8 high, its upper left quarter red. The EXIF orientation determines where that
// quarter is.
TEST(Images, ExifOrientationIsApplied) {
  const TempFolder folder;
  RgbImage stored = test::flat(16, 8, 0, 0, 255);
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 8; ++x) std::copy_n("\xFF\0\0", 3, stored.at(x, y));
  write_image(folder / "a.jpg", stored.view());
  const std::string jpeg = test::bytes_of_file(folder / "a.jpg");
  struct Case {
    char orientation;
    bool turned, red_right, red_below;
  };
  constexpr Case cases[] = {{1, false, false, false}, {2, false, true, false}, {3, false, true, true},
                            {4, false, false, true},  {5, true, false, false}, {6, true, true, false},
                            {7, true, true, true},    {8, true, false, true}};
  FramePool pool;
  for (const Case& c : cases) {
    const std::string path = folder.write("turned.jpg", with_orientation(jpeg, c.orientation));

    const auto reader = open_reader(path);
    const auto frame = reader->read(pool);

    ASSERT_TRUE(frame) << frame.failure().message;
    ASSERT_EQ(frame->view.width, c.turned ? 8 : 16) << int{c.orientation};
    EXPECT_EQ(reader->info().width, frame->view.width);
    const int left = frame->view.width / 4;
    const int top = frame->view.height / 4;
    const int x = c.red_right ? frame->view.width - 1 - left : left;
    const int y = c.red_below ? frame->view.height - 1 - top : top;
    EXPECT_GT(pixel(*frame, x, y)[0], 150) << int{c.orientation};
    EXPECT_LT(pixel(*frame, frame->view.width - 1 - x, y)[0], 100) << int{c.orientation};
    EXPECT_LT(pixel(*frame, x, frame->view.height - 1 - y)[0], 100) << int{c.orientation};
  }
}

TEST(Images, ADamagedExifBlockIsIgnored) {
  const TempFolder folder;
  RgbImage image = test::flat(16, 8, 9, 9, 9);
  write_image(folder / "a.jpg", image.view());
  std::string jpeg = with_orientation(test::bytes_of_file(folder / "a.jpg"), 6);
  // The directory's offset points far beyond the block.
  jpeg[2 + 4 + 6 + 4] = '\x7F';
  FramePool pool;

  const auto frame = read_one(folder.write("b.jpg", jpeg), pool);

  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->view.width, 16);
}

TEST(Images, TruncatedFilesAreCorruptOrRefusedAtEveryLength) {
  const TempFolder folder;
  RgbImage image = test::gradient(48, 40);
  FramePool pool;
  for (const char* name : {"a.jpg", "a.png"}) {
    write_image(folder / name, image.view());
    const std::string whole = test::bytes_of_file(folder / name);
    // The last bytes are end markers without pixels.
    for (std::size_t size = 1; size + 16 < whole.size(); size += 7) {
      const std::string path = folder.write(std::string("cut_") + name, whole.substr(0, size));
      try {
        const auto frame = read_one(path, pool);
        ASSERT_FALSE(frame) << name << " cut to " << size << " of " << whole.size();
        EXPECT_EQ(frame.failure().status, Status::kCorrupt);
        EXPECT_NE(frame.failure().message.find(path), std::string::npos) << frame.failure().message;
      } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find(path), std::string::npos) << error.what();
      }
    }
  }
  EXPECT_EQ(pool.out(), 0U);
}

// Cameras append data of their own, and colour profiles are ignored.
TEST(Images, DataOutsideTheImageIsIgnored) {
  using namespace std::string_literals;
  const TempFolder folder;
  RgbImage image = test::gradient(40, 24);
  FramePool pool(2);
  for (const std::string ending : {"jpg", "png"}) {
    write_image(folder / ("a." + ending), image.view());
    const std::string whole = test::bytes_of_file(folder / ("a." + ending));
    const std::string profile = "\xFF\xE2\0\x14ICC_PROFILE\0\x01\x01no!"s;
    const std::string paths[] = {folder.write("longer." + ending, whole + "appended \xFF\xD8 bytes"),
                                 ending == "jpg"
                                     ? folder.write("colours.jpg", whole.substr(0, 2) + profile + whole.substr(2))
                                     : folder / "a.png"};
    const auto plain = read_one(folder / ("a." + ending), pool);
    ASSERT_TRUE(plain);
    for (const std::string& path : paths) {
      const auto frame = read_one(path, pool);
      ASSERT_TRUE(frame) << frame.failure().message;
      for (int y = 0; y < 24; ++y)
        EXPECT_TRUE(std::equal(pixel(*plain, 0, y), pixel(*plain, 0, y) + 3 * 40, pixel(*frame, 0, y))) << path;
    }
  }
}

TEST(Images, OneTooLargeForItsFormatIsNotWritten) {
  const TempFolder folder;
  RgbImage image = test::flat(65'501, 1, 1, 2, 3);
  try {
    write_image(folder / "a.jpg", image.view());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    EXPECT_NE(std::string(error.what()).find("65501x1"), std::string::npos) << error.what();
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "a.jpg"));
  write_image(folder / "a.png", image.view());
  EXPECT_TRUE(std::filesystem::exists(folder / "a.png"));
}

TEST(Images, DamagedBytesNeverCrash) {
  const TempFolder folder;
  RgbImage image = test::gradient(40, 32);
  FramePool pool;
  std::uint32_t random = 1;
  const auto next = [&random] { return random = random * 1664525U + 1013904223U; };
  int readings = 0;
  for (const char* name : {"a.jpg", "a.png"}) {
    write_image(folder / name, image.view());
    const std::string whole = test::bytes_of_file(folder / name);
    for (int round = 0; round < 100; ++round) {
      std::string damaged = whole;
      for (int i = 0; i < 4; ++i) damaged[(next() >> 8) % damaged.size()] = static_cast<char>(next() >> 24);
      try {
        static_cast<void>(read_one(folder.write(name, damaged), pool));
      } catch (const Error&) {
      }
      ++readings;
    }
  }
  EXPECT_EQ(readings, 200);
  EXPECT_EQ(pool.out(), 0U);
}

TEST(Images, AnAbsurdSizeIsRefusedBeforeMemoryIsTaken) {
  const TempFolder folder;
  RgbImage image = test::flat(16, 16, 0, 0, 0);
  write_image(folder / "a.jpg", image.view());
  std::string jpeg = test::bytes_of_file(folder / "a.jpg");
  const std::size_t header = jpeg.find("\xFF\xC0");
  jpeg.replace(header + 5, 4, "\xFF\x00\xFF\x00", 4);  // 65280 x 65280

  EXPECT_NE(message_of(folder.write("b.jpg", jpeg)).find("65280x65280"), std::string::npos);
}

TEST(Images, WhatIsNoImageIsNamedAndExplained) {
  const TempFolder folder;
  const std::string empty = folder.write("empty.jpg", "");
  const std::string text = folder.write("notes.txt", "these are only words, and no image at all\n");
  const std::string named = folder.write("notes.jpg", "these are only words, and no image at all\n");

  EXPECT_EQ(message_of(folder / "missing.jpg"), "there is no file or folder '" + folder / "missing.jpg" + "'");
  EXPECT_EQ(message_of(empty), "'" + empty + "' is empty (0 bytes)");
  EXPECT_NE(message_of(text).find(text), std::string::npos);
  EXPECT_NE(message_of(named).find(named), std::string::npos);
}

TEST(Images, WritingRefusesWhatItCannotDo) {
  const TempFolder folder;
  RgbImage image = test::flat(4, 4, 0, 0, 0);

  EXPECT_THROW(write_image(folder / "a.gif", image.view()), Error);
  EXPECT_THROW(write_image(folder / "no/such/folder/a.png", image.view()), Error);
  FrameView planar = image.view();
  planar.format = PixelFormat::kI444;
  EXPECT_THROW(write_image(folder / "a.png", planar), Error);
}

// A file may have any number of bytes behind its image.
TEST(Images, AFileThatExceedsTheFramesLimitIsSkipped) {
  const TempFolder folder;
  RgbImage image(8, 8);
  write_image(folder / "a.png", image.view());
  std::filesystem::copy_file(folder / "a.png", folder / "b.png");
  std::filesystem::resize_file(folder / "a.png", std::uintmax_t{1} << 40);
  SmallPool pool(1 << 20);
  const auto reader = open_reader(folder.string());

  const auto large = reader->read(pool);
  const auto small = reader->read(pool);

  ASSERT_FALSE(large);
  EXPECT_EQ(large.failure().status, Status::kCorrupt);
  EXPECT_NE(large.failure().message.find("a.png"), std::string::npos) << large.failure().message;
  EXPECT_NE(large.failure().message.find("more than the limit"), std::string::npos) << large.failure().message;
  EXPECT_TRUE(small);
  EXPECT_EQ(pool.taken, 0U);
}

TEST(Images, WhatADecoderAllocatesIsCounted) {
  RgbImage image = test::gradient(320, 240);
  const std::vector<std::uint8_t> plain = test::write_jpeg(image);
  const std::vector<std::uint8_t> progressive = test::write_jpeg(image, {.is_progressive = true});
  const std::string turned = with_orientation(std::string(plain.begin(), plain.end()), 6);
  // Coefficients of 16 bits: 320 x 240 of luma, half as many of chroma.
  const std::pair<std::span<const std::uint8_t>, std::size_t> cases[] = {
      {plain, 0}, {progressive, 320 * 240 * 3}, {test::bytes_of(turned), 320 * 240 * 3}};
  const auto reader = module<ImagesModule>("images").make_reader();
  for (const auto& [file, bytes] : cases) {
    SmallPool pool(bytes);
    ASSERT_TRUE(reader->read(file, "the image", 1 << 20, pool));
    EXPECT_EQ(pool.most, bytes);
    EXPECT_EQ(pool.taken, 0U);
    if (bytes == 0) continue;
    SmallPool small(bytes - 1);
    EXPECT_FALSE(reader->read(file, "the image", 1 << 20, small));
    EXPECT_EQ(small.taken, 0U);
  }
}

TEST(Images, AFileThatTheKernelMakesUpIsEmpty) {
  for (const char* path : {"/proc/kmsg", "/proc/self/status"}) {
    if (!std::filesystem::exists(path)) continue;
    EXPECT_NE(message_of(path).find("is empty (0 bytes)"), std::string::npos) << message_of(path);
  }
}

}  // namespace
}  // namespace saccade
