#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "media/convert.hpp"
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

constexpr std::int64_t kFrameNs = 40'000'000;  // 25 frames per second

/// FRAMES gradients whose blue grows by 8 per frame.
void write_video(const std::string& path, int frames, int width = 64, int height = 48) {
  const auto writer = open_video_writer(path, 25);
  for (int i = 0; i < frames; ++i) {
    RgbImage image = test::gradient(width, height, static_cast<std::uint8_t>(8 * i));
    writer->write(image.view(), i * kFrameNs);
  }
  writer->close();
}

class VideoRoundTrip : public testing::TestWithParam<const char*> {};

TEST_P(VideoRoundTrip, KeepsFramesTimesAndColours) {
  const TempFolder folder;
  const std::string path = folder / (std::string("a") + GetParam());
  write_video(path, 20);
  FramePool pool(2);

  const auto reader = open_reader(path);
  EXPECT_EQ(reader->info().width, 64);
  EXPECT_EQ(reader->info().height, 48);
  EXPECT_NEAR(reader->info().frame_rate, 25, 0.01);
  for (int i = 0; i < 20; ++i) {
    const auto frame = reader->read(pool);
    ASSERT_TRUE(frame) << i << ": " << frame.failure().message;
    EXPECT_EQ(frame->sequence, i);
    EXPECT_NEAR(static_cast<double>(frame->timestamp_ns), static_cast<double>(i * kFrameNs), 1e6);
    ASSERT_EQ(frame->view.format, PixelFormat::kI420);
    EXPECT_EQ(frame->view.range, ColorRange::kLimited);
    RgbImage shown(64, 48);
    to_rgb(frame->view, shown.pixels());
    for (const auto& [x, y] : {std::pair{16, 12}, {48, 12}, {32, 36}}) {
      EXPECT_NEAR(shown.at(x, y)[0], 255 * x / 64, 16) << "frame " << i;
      EXPECT_NEAR(shown.at(x, y)[1], 255 * y / 48, 16) << "frame " << i;
      EXPECT_NEAR(shown.at(x, y)[2], 8 * i, 20) << "frame " << i;
    }
  }
  EXPECT_EQ(reader->read(pool).failure().status, Status::kEnd);
  EXPECT_EQ(pool.allocations(), 1);
}

INSTANTIATE_TEST_SUITE_P(Containers, VideoRoundTrip, testing::Values(".mp4", ".mkv", ".mov", ".avi"));

TEST(Video, OddSizesArePaddedToEven) {
  const TempFolder folder;
  write_video(folder / "a.mp4", 3, 51, 35);
  FramePool pool;

  const auto frame = open_reader(folder / "a.mp4")->read(pool);

  ASSERT_TRUE(frame) << frame.failure().message;
  EXPECT_EQ(frame->view.width, 52);
  EXPECT_EQ(frame->view.height, 36);
}

TEST(Video, FramesWithoutTimesFollowTheFrameRate) {
  const TempFolder folder;
  const auto writer = open_video_writer(folder / "a.mp4", 10);
  RgbImage image = test::gradient(32, 32);
  for (int i = 0; i < 4; ++i) writer->write(image.view(), 0);
  writer->close();
  FramePool pool;

  const auto reader = open_reader(folder / "a.mp4");
  const Reading reading = test::read_all(*reader, pool);

  EXPECT_EQ(reading.timestamps, (std::vector<std::int64_t>{0, 100'000'000, 200'000'000, 300'000'000}));
}

TEST(Video, WriterRefusesWhatItCannotDo) {
  const TempFolder folder;
  RgbImage image = test::gradient(32, 32);
  RgbImage other = test::gradient(64, 32);

  EXPECT_THROW(open_video_writer(folder / "a.xyz", 25), Error);
  EXPECT_THROW(open_video_writer(folder / "no/such/folder/a.mp4", 25), Error);
  const auto writer = open_video_writer(folder / "a.mp4", 25);
  writer->write(image.view(), 0);
  EXPECT_THROW(writer->write(other.view(), kFrameNs), Error);
  writer->close();
  EXPECT_THROW(writer->write(image.view(), 2 * kFrameNs), Error);
}

TEST(Video, WriterWithoutFramesLeavesNoFile) {
  const TempFolder folder;

  open_video_writer(folder / "a.mp4", 25)->close();

  EXPECT_FALSE(std::filesystem::exists(folder / "a.mp4"));
}

TEST(Video, ReadsAfterCancelReturnCancelled) {
  const TempFolder folder;
  write_video(folder / "a.mp4", 3);
  FramePool pool;
  const auto reader = open_reader(folder / "a.mp4");

  reader->cancel();

  EXPECT_EQ(reader->read(pool).failure().status, Status::kCancelled);
}

struct SharedVideo {
  const char* name;
  int frames;
};
void PrintTo(const SharedVideo& video, std::ostream* out) { *out << video.name; }

class SharedVideos : public testing::TestWithParam<SharedVideo> {};

TEST_P(SharedVideos, AllFramesAreCounted) {
  const std::string path = std::string(SACCADE_SHARED "/videos/") + GetParam().name;
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "needs ../shared/videos/" << GetParam().name;
  FramePool pool(2);

  const auto reader = open_reader(path);
  const Reading reading = test::read_all(*reader, pool);

  EXPECT_EQ(reading.frames, GetParam().frames);
  EXPECT_EQ(reading.corrupt, 0);
  EXPECT_EQ(reading.end, Status::kEnd) << reading.message;
  EXPECT_TRUE(std::is_sorted(reading.timestamps.begin(), reading.timestamps.end()));
}

INSTANTIATE_TEST_SUITE_P(All, SharedVideos,
                         testing::Values(SharedVideo{"opencvzoo_TestV4.mp4", 151},
                                         SharedVideo{"walking_people_720p.mp4", 341},
                                         SharedVideo{"roboflow_example_video.mp4", 431},
                                         SharedVideo{"highway_small_360p.mp4", 192}),
                         [](const auto& video) {
                           const std::string name = video.param.name;
                           return name.substr(0, name.find('.'));
                         });

}  // namespace
}  // namespace saccade
