#include <gtest/gtest.h>

#include <limits>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "media/images.hpp"
#include "media/looping_reader.hpp"
#include "media/paced_reader.hpp"
#include "media/source_list.hpp"
#include "saccade/error.hpp"
#include "support/frames.hpp"
#include "support/temp_folder.hpp"

namespace saccade {
namespace {

using std::chrono::milliseconds;

/// Frames with these timestamps.
class StampedReader final : public FrameReader {
 public:
  explicit StampedReader(std::vector<std::int64_t> times, double rate = 30, milliseconds decoding = {})
      : times_(std::move(times)), decoding_(decoding) {
    info_.frame_rate = rate;
  }
  const SourceInfo& info() const override { return info_; }
  Outcome<Frame> read(FrameAllocator& allocator) override {
    std::this_thread::sleep_for(decoding_);
    Frame frame;
    frame.lease = allocator.acquire(64);
    frame.timestamp_ns = times_.at(next_++);
    return frame;
  }
  void cancel() noexcept override {}

 private:
  SourceInfo info_;
  std::vector<std::int64_t> times_;
  milliseconds decoding_;
  std::size_t next_ = 0;
};

constexpr const char* kScene = "synthetic:?size=32x32&frames=3&fps=100";

TEST(SourceOptions, InRealTimeASceneIsACamera) {
  // Slow, so that a busy machine is not behind by four frames.
  constexpr const char* kSlowScene = "synthetic:?size=32x32&frames=3&fps=10";
  const auto reader = open_source(kSlowScene, {.realtime = true});
  EXPECT_TRUE(reader->info().live);
  EXPECT_FALSE(open_source(kSlowScene, {})->info().live);
  test::FramePool pool;
  const auto start = Clock::now();
  for (std::int64_t i = 0; i < 3; ++i) {
    const Outcome<Frame> frame = reader->read(pool);
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->sequence, i);
    EXPECT_EQ(frame->timestamp_ns, i * 100'000'000);
    const auto due = std::chrono::nanoseconds(frame->timestamp_ns);
    EXPECT_GE(Clock::now() - start, due) << "not before its time";
    EXPECT_GE(frame->captured - start, due);
  }
  EXPECT_EQ(reader->read(pool).failure().status, Status::kEnd);
}

/// Frames at 100 per second, each of which takes DECODING.
std::unique_ptr<FrameReader> paced(int frames, milliseconds decoding = {}) {
  std::vector<std::int64_t> times;
  for (std::int64_t i = 0; i < frames; ++i) times.push_back(i * 10'000'000);
  return pace(std::make_unique<StampedReader>(std::move(times), 100, decoding));
}

/// Four frames at 100 per second: a camera's buffers.
constexpr milliseconds kFarthestBehind(40);

TEST(SourceOptions, InRealTimeFramesThatAreNotReadAreDropped) {
  const auto reader = paced(60);
  test::FramePool pool;
  ASSERT_TRUE(reader->read(pool));
  std::this_thread::sleep_for(milliseconds(400));
  int dropped = 0;
  int delivered = 1;
  for (int i = 1; i < 60; ++i) {
    const Outcome<Frame> frame = reader->read(pool);
    if (frame) {
      EXPECT_LE(frame->capture_time, kFarthestBehind) << i;
      ++delivered;
      continue;
    }
    ASSERT_EQ(frame.failure().status, Status::kNoBuffer) << i;
    ++dropped;
  }
  EXPECT_GE(dropped, 20) << "of some 35";
  EXPECT_GE(delivered, 3);
}

/// What was decoded can't be caught up with by dropping it.
TEST(SourceOptions, InRealTimeASlowDecoderDelaysTheSource) {
  const auto reader = paced(12, milliseconds(30));
  test::FramePool pool;
  for (int i = 0; i < 12; ++i) {
    const Outcome<Frame> frame = reader->read(pool);
    ASSERT_TRUE(frame) << i;
    EXPECT_LE(frame->capture_time, kFarthestBehind) << i;
  }
}

/// It keeps up, if with little to spare: what was not read in time is dropped, and does not delay the source for ever.
TEST(SourceOptions, InRealTimeADecoderThatKeepsUpDropsFrames) {
  std::vector<std::int64_t> times;
  for (std::int64_t i = 0; i < 5; ++i) times.push_back(i * 50'000'000);
  const auto reader = pace(std::make_unique<StampedReader>(times, 20, milliseconds(35)));
  test::FramePool pool;
  ASSERT_TRUE(reader->read(pool));
  std::this_thread::sleep_for(milliseconds(400));
  int dropped = 0;
  for (int i = 1; i < 5; ++i)
    if (!reader->read(pool)) ++dropped;
  EXPECT_GE(dropped, 1) << "of four, unless the machine is busy each time";
}

TEST(SourceOptions, CancellingEndsTheWaitForAFrame) {
  const auto reader = pace(std::make_unique<StampedReader>(std::vector<std::int64_t>{0, 50'000'000'000}));
  test::FramePool pool;
  ASSERT_TRUE(reader->read(pool));
  std::thread other([&] { reader->cancel(); });
  EXPECT_EQ(reader->read(pool).failure().status, Status::kCancelled);
  other.join();
}

TEST(SourceOptions, ALoopIsEndlessAndCountsOn) {
  const auto reader = open_source(kScene, {.loop = true});
  EXPECT_TRUE(reader->info().endless);
  EXPECT_EQ(reader->info().frames, -1);
  EXPECT_FALSE(open_source(kScene, {})->info().endless);
  test::FramePool pool;
  for (std::int64_t i = 0; i < 8; ++i) {
    const Outcome<Frame> frame = reader->read(pool);
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->sequence, i);
    EXPECT_EQ(frame->timestamp_ns, i * 10'000'000);
  }
}

/// The interval between rounds is that of the frame rate, also where a round has one frame.
TEST(SourceOptions, ALoopOfOneFrameHasItsRate) {
  const auto reader = open_source("synthetic:?size=32x32&frames=1&fps=100", {.loop = true});
  test::FramePool pool;
  for (std::int64_t i = 0; i < 3; ++i) {
    const Outcome<Frame> frame = reader->read(pool);
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->timestamp_ns, i * 10'000'000);
  }
}

/// As a damaged file may have them.
TEST(SourceOptions, AnyTimestampsCanBeRead) {
  constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();
  const auto reader = pace(std::make_unique<StampedReader>(std::vector{kLowest, kHighest, kLowest, std::int64_t{0}}));
  test::FramePool pool;
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(reader->read(pool));
}

TEST(SourceOptions, AreNotForImages) {
  const test::TempFolder folder;
  test::RgbImage image = test::flat(8, 8, 1, 2, 3);
  for (const char* name : {"1.png", "2.png"}) write_image(folder / name, image.view());
  const auto refused = [&](const std::vector<std::string>& uris, const SourceOptions& options) {
    try {
      open_readers(uris, options);
      return std::string("opened");
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      return std::string(error.what());
    }
  };
  for (const std::vector<std::string>& uris :
       {std::vector<std::string>{folder / "1.png"}, {folder / "1.png", folder / "2.png"}, {folder.string()}}) {
    EXPECT_NE(refused(uris, {.loop = true}).find("images are read once"), std::string::npos) << uris.front();
    EXPECT_NE(refused(uris, {.realtime = true}).find("no frame rate"), std::string::npos) << uris.front();
  }
}

}  // namespace
}  // namespace saccade
