#include <gtest/gtest.h>

#include "media/convert.hpp"
#include "media/frame_reader.hpp"
#include "media/images.hpp"
#include "support/frames.hpp"
#include "support/temp_folder.hpp"

// Output of the ffmpeg module for each pixel format, from uncompressed files.
namespace saccade {
namespace {

using test::FramePool;
using test::TempFolder;
using namespace std::string_literals;

/// A YUV4MPEG file of one 4x2 frame, whose bytes are 0, STEP, 2 * STEP, ...
std::string y4m(const std::string& colorspace, std::size_t bytes, int step = 1) {
  std::string file = "YUV4MPEG2 W4 H2 F25:1 Ip A1:1 C" + colorspace + "\nFRAME\n";
  for (std::size_t i = 0; i < bytes; ++i) file += static_cast<char>(static_cast<int>(i) * step);
  return file;
}

/// The same of 16-bit samples, little-endian: FIRST, FIRST + STEP, ...
std::string y4m_deep(const std::string& colorspace, int samples, int first, int step) {
  std::string file = "YUV4MPEG2 W4 H2 F25:1 Ip A1:1 C" + colorspace + "\nFRAME\n";
  for (int i = 0, value = first; i < samples; ++i, value += step)
    file += {static_cast<char>(value & 0xFF), static_cast<char>(value >> 8)};
  return file;
}

int sample(const Frame& frame, std::size_t plane, int x, int y) {
  return frame.view.planes[plane][static_cast<std::ptrdiff_t>(y) * frame.view.pitch_bytes[plane] + x];
}

TEST(PixelFormats, PlanesComeAsTheDecoderGivesThem) {
  const TempFolder folder;
  FramePool pool;
  struct Case {
    const char* colorspace;
    std::size_t bytes;
    PixelFormat format;
    int last_u;  // the last sample of the second plane
  };
  constexpr Case cases[] = {{"420jpeg", 12, PixelFormat::kI420, 9},
                            {"422", 16, PixelFormat::kI422, 11},
                            {"444", 24, PixelFormat::kI444, 15},
                            {"mono", 8, PixelFormat::kGray8, -1}};
  for (const Case& c : cases) {
    const auto frame = open_reader(folder.write("a.y4m", y4m(c.colorspace, c.bytes)))->read(pool);

    ASSERT_TRUE(frame) << c.colorspace << ": " << frame.failure().message;
    ASSERT_EQ(frame->view.format, c.format) << c.colorspace;
    EXPECT_EQ(sample(*frame, 0, 3, 1), 7);
    const PlaneSize chroma = plane_sizes(c.format, 4, 2)[1];
    if (chroma.rows > 0) {
      EXPECT_EQ(sample(*frame, 1, chroma.row_bytes - 1, chroma.rows - 1), c.last_u) << c.colorspace;
    }
  }
}

TEST(PixelFormats, DeepSamplesKeepTheirUpperEightBits) {
  const TempFolder folder;
  FramePool pool;

  // 10 bits: 0, 4, 8, ... are 0, 1, 2, ... in 8.
  const auto frame = open_reader(folder.write("a.y4m", y4m_deep("420p10", 12, 3, 4)))->read(pool);

  ASSERT_TRUE(frame) << frame.failure().message;
  ASSERT_EQ(frame->view.format, PixelFormat::kI420);
  EXPECT_EQ(sample(*frame, 0, 0, 0), 0);
  EXPECT_EQ(sample(*frame, 0, 3, 1), 7);
  EXPECT_EQ(sample(*frame, 1, 1, 0), 9);
  EXPECT_EQ(sample(*frame, 2, 1, 0), 11);
}

TEST(PixelFormats, ARangeThatTheStreamNamesIsKept) {
  const TempFolder folder;
  FramePool pool;
  std::string full = y4m("420jpeg", 12);
  full.replace(full.find('\n'), 1, " XCOLORRANGE=FULL\n");

  const auto limited_frame = open_reader(folder.write("a.y4m", y4m("420jpeg", 12)))->read(pool);
  const auto full_frame = open_reader(folder.write("b.y4m", full))->read(pool);

  ASSERT_TRUE(limited_frame && full_frame);
  EXPECT_EQ(limited_frame->view.range, ColorRange::kLimited);
  EXPECT_EQ(limited_frame->view.matrix, ColorMatrix::kBt601);
  EXPECT_EQ(full_frame->view.range, ColorRange::kFull);
}

TEST(PixelFormats, WhatHasNoCounterpartIsRefusedByName) {
  const TempFolder folder;
  try {
    open_reader(folder.write("a.y4m", y4m("411", 12)));
    FAIL() << "opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    EXPECT_NE(std::string(error.what()).find("yuv411p"), std::string::npos) << error.what();
  }
}

/// A 2x2 BMP of BITS per pixel; ROWS from the bottom upwards, each a multiple of four bytes; PALETTE of B G R 0
/// entries.
std::string bmp(int bits, const std::string& rows, const std::string& palette = "") {
  const auto u32 = [](std::size_t value) {
    return std::string{static_cast<char>(value & 0xFF), static_cast<char>(value >> 8 & 0xFF), '\0', '\0'};
  };
  const std::size_t offset = 54 + palette.size();
  return "BM" + u32(offset + rows.size()) + u32(0) + u32(offset) + u32(40) + u32(2) + u32(2) + "\x01\0"s +
         static_cast<char>(bits) + "\0"s + u32(0) + u32(rows.size()) + u32(0) + u32(0) + u32(palette.size() / 4) +
         u32(0) + palette + rows;
}

TEST(PixelFormats, BitmapsOfEveryDepthShowTheSameColours) {
  const TempFolder folder;
  FramePool pool;
  // Above: red, green. Below: blue, white.
  const std::string files[] = {
      bmp(24, "\xFF\0\0\xFF\xFF\xFF\0\0"s + "\0\0\xFF\0\xFF\0\0\0"s),
      bmp(32, "\xFF\0\0\0\xFF\xFF\xFF\0"s + "\0\0\xFF\0\0\xFF\0\0"s),
      bmp(8, "\x02\x03\0\0"s + "\0\x01\0\0"s, "\0\0\xFF\0"s + "\0\xFF\0\0"s + "\xFF\0\0\0"s + "\xFF\xFF\xFF\0"s),
  };
  for (const std::string& file : files) {
    const auto reader = open_reader(folder.write("a_5.bmp", file));
    const auto frame = reader->read(pool);

    ASSERT_TRUE(frame) << frame.failure().message;
    EXPECT_EQ(frame->image_id, 5);
    test::RgbImage image(2, 2);
    to_rgb(frame->view, image.pixels());
    EXPECT_EQ(image.rgb, (std::vector<std::uint8_t>{255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255}));
  }
}

TEST(PixelFormats, ATruncatedBitmapIsCorrupt) {
  const TempFolder folder;
  FramePool pool;
  const std::string whole = bmp(24, std::string(16, '\x7F'));

  constexpr std::size_t kPadding = 2;  // after the last row: no pixel is missing without it
  for (std::size_t size = 20; size + kPadding < whole.size(); size += 4) {
    const std::string path = folder.write("a.bmp", whole.substr(0, size));
    try {
      const auto frame = open_reader(path)->read(pool);
      ASSERT_FALSE(frame) << size;
      EXPECT_EQ(frame.failure().status, Status::kCorrupt);
      EXPECT_NE(frame.failure().message.find(path), std::string::npos);
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(path), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace saccade
