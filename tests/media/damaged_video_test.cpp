#include <gtest/gtest.h>

#include <algorithm>

#include "media/frame_reader.hpp"
#include "media/images.hpp"
#include "support/frames.hpp"
#include "support/temp_folder.hpp"

namespace saccade {
namespace {

using test::FramePool;
using test::Reading;
using test::RgbImage;
using test::TempFolder;

constexpr int kFrames = 100;

/// The bytes of a video with four seconds of motion.
std::string video(const TempFolder& folder, const std::string& name) {
  const auto writer = open_video_writer(folder / name, 25);
  for (int i = 0; i < kFrames; ++i) {
    RgbImage image = test::gradient(64, 48, static_cast<std::uint8_t>(2 * i));
    writer->write(image.view(), i * std::int64_t{40'000'000});
  }
  writer->close();
  return test::bytes_of_file(folder / name);
}

/// Reads the file to its end; an Error while opening counts as a lost source, with its message.
Reading read_file(const std::string& path, FramePool& pool) {
  try {
    return test::read_all(*open_reader(path), pool);
  } catch (const Error& error) {
    return {.end = Status::kLost, .message = error.what()};
  }
}

class DamagedVideo : public testing::TestWithParam<const char*> {};

TEST_P(DamagedVideo, TruncatedIsLostWithItsName) {
  const TempFolder folder;
  const std::string name = std::string("a") + GetParam();
  const std::string whole = video(folder, name);
  FramePool pool(2);
  for (int percent = 1; percent <= 70; percent += 3) {
    const std::string path = folder.write("cut" + name, whole.substr(0, whole.size() * percent / 100));

    const Reading reading = read_file(path, pool);

    EXPECT_EQ(reading.end, Status::kLost) << percent << " %: " << reading.frames << " frames";
    EXPECT_NE(reading.message.find(path), std::string::npos) << reading.message;
    EXPECT_LT(reading.frames, kFrames);
  }
  EXPECT_EQ(pool.out(), 0U);
}

TEST_P(DamagedVideo, DamagedBytesCostFramesButNeverTheProgram) {
  const TempFolder folder;
  const std::string name = std::string("a") + GetParam();
  const std::string whole = video(folder, name);
  FramePool pool(2);
  std::uint32_t random = 3;
  const auto next = [&random] { return random = random * 1664525U + 1013904223U; };
  int reported = 0;
  for (int round = 0; round < 12; ++round) {
    std::string damaged = whole;
    for (int i = 0; i < 20; ++i) damaged[(next() >> 8) % damaged.size()] = static_cast<char>(next() >> 24);

    const Reading reading = read_file(folder.write("bad" + name, damaged), pool);

    EXPECT_LE(reading.frames + reading.corrupt, kFrames + 4);
    reported += reading.corrupt > 0 || reading.end == Status::kLost ? 1 : 0;
  }
  EXPECT_GT(reported, 6);
  EXPECT_EQ(pool.out(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Containers, DamagedVideo, testing::Values(".mp4", ".mkv", ".avi"),
                         [](const auto& container) { return std::string(container.param).substr(1); });

TEST(VideoFile, FramesAfterADamagedOneStillCome) {
  const TempFolder folder;
  std::string bytes = video(folder, "a.avi");
  // AVI's chunks "00dc" hold a frame each; the tenth loses its contents, but not its size.
  std::size_t chunk = 0;
  for (int i = 0; i < 10; ++i) chunk = bytes.find("00dc", chunk + 4);
  std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(chunk) + 8, 24, '\xFF');
  FramePool pool(2);

  const Reading reading = read_file(folder.write("b.avi", bytes), pool);

  EXPECT_GE(reading.corrupt, 1);
  EXPECT_NE(reading.corrupt_message.find("b.avi: frame "), std::string::npos) << reading.corrupt_message;
  EXPECT_EQ(reading.frames + reading.corrupt, kFrames);
  EXPECT_EQ(reading.end, Status::kEnd) << reading.message;
}

TEST(VideoFile, WhatIsNoVideoIsNamedAndExplained) {
  const TempFolder folder;
  std::string noise;
  std::uint32_t random = 5;
  for (int i = 0; i < 5000; ++i) noise += static_cast<char>((random = random * 1664525U + 1013904223U) >> 24);
  const std::string words = "these are only words, and no video at all\n";
  const std::string files[] = {
      folder.write("words.txt", words),
      folder.write("words.mp4", words),
      folder.write("noise.mp4", noise),
      folder.write("noise", noise),
      folder.write("zeros.mkv", std::string(10'000, '\0')),
      folder.write("list.txt", "ffconcat version 1.0\nfile 'words.mp4'\n"),
      folder.write("list.m3u8", "#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\nwords.mp4\n#EXT-X-ENDLIST\n"),
      folder.write("titles.srt", "1\n00:00:01,000 --> 00:00:02,000\nwords\n"),
      folder.write("empty.mp4", ""),
  };
  for (const std::string& file : files) {
    try {
      open_reader(file);
      ADD_FAILURE() << file << " opened";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidFile) << error.what();
      EXPECT_NE(std::string(error.what()).find(file), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace saccade
