#include <gtest/gtest.h>

#include <filesystem>

#include "media/encode.hpp"
#include "media/frame_reader.hpp"
#include "media/images.hpp"
#include "support/frames.hpp"
#include "support/temp_folder.hpp"

// A killed process leaves what is at the video's path at that moment.
namespace saccade {
namespace {

using test::FramePool;
using test::Reading;
using test::RgbImage;
using test::TempFolder;

constexpr std::int64_t kKilledFrameNs = 40'000'000;
constexpr int kKilledRate = 25;

class KilledVideo : public testing::TestWithParam<const char*> {};

TEST_P(KilledVideo, PlaysUpToASecondBefore) {
  const TempFolder folder;
  const std::string path = folder / (std::string("a") + GetParam());
  const std::string left = folder / (std::string("left") + GetParam());
  const auto writer = open_video_writer(path, kKilledRate);
  FramePool pool(2);
  for (int i = 0; i < 4 * kKilledRate; ++i) {
    RgbImage image = test::gradient(64, 48, static_cast<std::uint8_t>(2 * i));
    writer->write(image.view(), i * kKilledFrameNs);
    if (i < kKilledRate || i % 3 != 0) continue;
    std::filesystem::copy_file(path, left, std::filesystem::copy_options::overwrite_existing);

    const auto reader = open_reader(left);
    const Reading reading = test::read_all(*reader, pool);

    EXPECT_GE(reading.frames, i - kKilledRate) << "after frame " << i;
    EXPECT_EQ(reading.corrupt, 0) << reading.corrupt_message;
    for (std::size_t k = 0; k < reading.timestamps.size(); ++k)
      EXPECT_NEAR(static_cast<double>(reading.timestamps[k]), static_cast<double>(k) * kKilledFrameNs, 1e6);
  }
}

class KilledVideoWithTimestamps : public KilledVideo {};

TEST_P(KilledVideoWithTimestamps, OfUnevenTimesKeepsThem) {
  const TempFolder folder;
  const std::string path = folder / (std::string("a") + GetParam());
  const auto writer = open_video_writer(path, kKilledRate);
  RgbImage image = test::gradient(64, 48);
  std::vector<std::int64_t> times;
  for (int i = 0; i < 60; ++i) {
    times.push_back(i * kKilledFrameNs + (i >= 20 ? 3'000'000'000 : 0) + (i >= 33 ? 700'000'000 : 0));
    writer->write(image.view(), times.back());
  }
  std::filesystem::copy_file(path, path + "-left");
  writer->close();
  FramePool pool(2);
  for (const std::string& file : {path + "-left", path}) {
    const Reading reading = test::read_all(*open_reader(file), pool);

    EXPECT_GT(reading.frames, 40);
    for (std::size_t k = 0; k < reading.timestamps.size(); ++k)
      EXPECT_NEAR(static_cast<double>(reading.timestamps[k]), static_cast<double>(times[k]), 1e6) << file;
  }
}

const auto name_of_container = [](const auto& container) { return std::string(container.param).substr(1); };
INSTANTIATE_TEST_SUITE_P(Containers, KilledVideo, testing::Values(".mp4", ".m4v", ".mov", ".mkv", ".avi"),
                         name_of_container);
// AVI has one frame rate and no timestamps.
INSTANTIATE_TEST_SUITE_P(Containers, KilledVideoWithTimestamps, testing::Values(".mp4", ".m4v", ".mov", ".mkv"),
                         name_of_container);

/// The types of a file's outermost boxes.
std::string boxes_of(const std::string& bytes) {
  std::string types;
  for (std::size_t at = 0; at + 8 <= bytes.size();) {
    const auto byte = [&](std::size_t i) { return std::uint64_t{static_cast<unsigned char>(bytes[at + i])}; };
    std::uint64_t size = byte(0) << 24 | byte(1) << 16 | byte(2) << 8 | byte(3);
    types += bytes.substr(at + 4, 4) + " ";
    if (size == 1) size = byte(12) << 24 | byte(13) << 16 | byte(14) << 8 | byte(15);
    if (size < 8) break;
    at += size;
  }
  return types;
}

TEST(ClosedVideo, IsAnOrdinaryFileWithAnIndexOfAllFrames) {
  const TempFolder folder;
  for (const char* ending : {".mp4", ".mov", ".m4v"}) {
    const std::string path = folder / (std::string("a") + ending);
    const auto writer = open_video_writer(path, kKilledRate);
    for (int i = 0; i < 70; ++i) {
      RgbImage image = test::gradient(64, 48, static_cast<std::uint8_t>(2 * i));
      writer->write(image.view(), i * kKilledFrameNs);
    }
    writer->close();

    EXPECT_EQ(boxes_of(test::bytes_of_file(path)), "ftyp mdat moov ") << ending;
    EXPECT_EQ(open_reader(path)->info().frames, 70) << ending;
    AVFormatContext* context = nullptr;
    ASSERT_EQ(avformat_open_input(&context, path.c_str(), nullptr, nullptr), 0);
    const AvInput input(context);
    ASSERT_GE(avformat_find_stream_info(context, nullptr), 0);
    EXPECT_NEAR(static_cast<double>(context->duration) / AV_TIME_BASE, 2.8, 0.01);
    // Every second is decodable without the preceding frames.
    ASSERT_GE(av_seek_frame(context, -1, 2'100'000, AVSEEK_FLAG_BACKWARD), 0);
    const AvPacket packet(av_packet_alloc());
    ASSERT_EQ(av_read_frame(context, packet.get()), 0);
    EXPECT_NE(packet->flags & AV_PKT_FLAG_KEY, 0);
    EXPECT_NEAR(static_cast<double>(packet->pts) * av_q2d(context->streams[0]->time_base), 1.6, 0.5);
  }
}

TEST(ClosedVideo, ReplacesWhatLayThereOnceItHasFrames) {
  const TempFolder folder;
  const std::string path = folder.write("a.mp4", "what a user has");
  {
    const auto writer = open_video_writer(path, kKilledRate);
    EXPECT_EQ(test::bytes_of_file(path), "what a user has");
    writer->close();
  }
  EXPECT_EQ(test::bytes_of_file(path), "what a user has");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.string()), {}), 1);
  const auto writer = open_video_writer(path, kKilledRate);
  RgbImage image = test::gradient(64, 48);
  writer->write(image.view(), 0);
  writer->close();
  EXPECT_EQ(open_reader(path)->info().frames, 1);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.string()), {}), 1);
}

}  // namespace
}  // namespace saccade
