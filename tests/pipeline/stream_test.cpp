#include "pipeline/stream/stream.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <thread>

#include "base/log.hpp"
#include "support/scripted_source.hpp"

namespace saccade {
namespace {

/// The ledger of a stream of so many frames after its end, with a QUEUE that is not read.
Ledger ledger_of(std::size_t frames, BoundedQueue<Frame>& queue) {
  test::ScriptedReader reader("a", test::frames(frames));
  Stream stream(reader, queue, {.buffers = 4});
  stream.join();
  while (queue.drain(0)) continue;
  return stream.ledger().snapshot();
}

TEST(Stream, EndsWhereItsQueueIsCancelled) {
  BoundedQueue<Frame> queue({{DropPolicy::kWait, 2}});
  queue.cancel();
  const Ledger ledger = ledger_of(3, queue);
  EXPECT_EQ(ledger.captured, 1);
  EXPECT_EQ(ledger.stopped, 1);
  EXPECT_EQ(ledger.queue_full, 0);
}

/// Delivers these outcomes: a message is that of an outage, an empty one stands for a frame.
class MessageReader final : public FrameReader {
 public:
  explicit MessageReader(std::vector<std::string> messages) : messages_(std::move(messages)) { info_.live = true; }
  const SourceInfo& info() const override { return info_; }
  Outcome<Frame> read(FrameAllocator& /*allocator*/) override {
    if (next_ == messages_.size()) return Failure{Status::kEnd, {}};
    const std::string& message = messages_[next_++];
    if (!message.empty()) return Failure{Status::kTimeout, message};
    Frame frame;
    frame.sequence = frames_++;
    return frame;
  }
  void cancel() noexcept override {}

 private:
  SourceInfo info_{.name = "camera"};
  std::vector<std::string> messages_;
  std::size_t next_ = 0;
  std::int64_t frames_ = 0;
};

std::vector<std::string> logged;
std::mutex logged_mutex;

/// What a stream of READER logs.
std::vector<std::string> log_of(FrameReader& reader) {
  logged.clear();
  set_log_writer([](LogLevel, std::string_view message) noexcept {
    const std::scoped_lock lock(logged_mutex);
    logged.emplace_back(message);
  });
  BoundedQueue<Frame> queue({{DropPolicy::kNewest, 2}});
  Stream(reader, queue, {.buffers = 4}).join();
  set_log_writer(nullptr);
  std::erase_if(logged, [](const std::string& line) { return line.find("frames arrive again") != std::string::npos; });
  return logged;
}

using Lines = std::vector<std::string>;

TEST(Stream, EachReasonOfAnOutageIsLoggedOnce) {
  MessageReader reader({"", "unplugged", "busy", "unplugged", "busy", "", "unplugged", "unplugged"});
  EXPECT_EQ(log_of(reader), (Lines{"unplugged", "busy", "unplugged"}));
  std::vector<std::string> numbered;
  for (int i = 1; i < 100; ++i) numbered.push_back("away for " + std::to_string(i));
  MessageReader changing(numbered);
  EXPECT_LE(log_of(changing).size(), 8U);
}

TEST(Stream, WarningsOfCorruptFramesAreLimited) {
  test::ScriptedReader reader("camera", std::vector<test::Act>(30, test::Act::kCorrupt), true);
  const Lines lines = log_of(reader);
  ASSERT_EQ(lines.size(), 11U);
  EXPECT_EQ(lines.back(), "camera: further corrupt frames of this hour are only counted");
}

TEST(Stream, WarningsComeAgainAfterAnHour) {
  using Verdict = HourlyWarnings::Verdict;
  const Clock::time_point start(std::chrono::hours(5));
  HourlyWarnings warnings;
  for (int hour = 0; hour < 3; ++hour)
    for (int i = 0; i < 20; ++i)
      EXPECT_EQ(warnings.at(start + std::chrono::hours(hour) + std::chrono::minutes(i)), i < 9    ? Verdict::kPass
                                                                                         : i == 9 ? Verdict::kLast
                                                                                                  : Verdict::kDrop);
}

/// A paced file goes on with the next frame after an outage, which has cost none.
TEST(Stream, APacedFileMissesNoFrames) {
  class TimedReader final : public FrameReader {
   public:
    explicit TimedReader(bool is_paced) : is_paced_(is_paced) {
      info_.live = true;
      info_.frame_rate = 1000;
    }
    const SourceInfo& info() const override { return info_; }
    bool is_paced() const override { return is_paced_; }
    Outcome<Frame> read(FrameAllocator& /*allocator*/) override {
      switch (next_++) {
        case 0: return Frame();
        case 1: return Failure{Status::kTimeout, "killed"};
        case 2: std::this_thread::sleep_for(std::chrono::milliseconds(30)); return Frame();
        default: return Failure{Status::kEnd, {}};
      }
    }
    void cancel() noexcept override {}

   private:
    SourceInfo info_{.name = "file"};
    bool is_paced_;
    int next_ = 0;
  };
  for (const bool is_paced : {false, true}) {
    TimedReader reader(is_paced);
    BoundedQueue<Frame> queue({{DropPolicy::kNewest, 2}});
    Stream stream(reader, queue, {.buffers = 4});
    stream.join();
    EXPECT_EQ(stream.outages().count, 1);
    EXPECT_EQ(stream.outages().missed == 0, is_paced);
  }
}

TEST(Stream, CountsFramesThatGaveWayAsQueueFull) {
  BoundedQueue<Frame> queue({{DropPolicy::kNewest, 2}});
  const Ledger ledger = ledger_of(5, queue);
  EXPECT_EQ(ledger.captured, 5);
  EXPECT_EQ(ledger.queue_full, 3);
  EXPECT_EQ(ledger.stopped, 0);
}

}  // namespace
}  // namespace saccade
