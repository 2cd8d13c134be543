#include "media/read_lead.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "media/paced_reader.hpp"
#include "support/frames.hpp"

namespace saccade {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kPeriod(30);

void add(ReadLead& lead, int reads, Clock::duration time) {
  for (int i = 0; i < reads; ++i) lead.add(time);
}

TEST(ReadLead, IsAPeriodUntilReadsWereMeasured) {
  ReadLead lead(kPeriod);
  EXPECT_EQ(lead.value(), kPeriod);
  add(lead, ReadLead::kReads - 1, milliseconds(1));
  EXPECT_EQ(lead.value(), kPeriod);
  add(lead, 1, milliseconds(1));
  EXPECT_EQ(lead.value(), kPeriod / 3);
}

TEST(ReadLead, IsLongerThanTheSlowestRead) {
  ReadLead lead(kPeriod);
  add(lead, ReadLead::kReads - 1, milliseconds(1));
  add(lead, 1, milliseconds(12));
  EXPECT_EQ(lead.value(), milliseconds(18));
  add(lead, 1, milliseconds(14));
  EXPECT_EQ(lead.value(), milliseconds(21)) << "at once";
  add(lead, 1, milliseconds(25));
  EXPECT_EQ(lead.value(), kPeriod) << "and no more than a period";
}

TEST(ReadLead, ForgetsASlowRead) {
  ReadLead lead(kPeriod);
  add(lead, 1, milliseconds(16));
  add(lead, ReadLead::kReads - 1, milliseconds(1));
  EXPECT_EQ(lead.value(), milliseconds(24));
  add(lead, ReadLead::kReads, milliseconds(1));
  EXPECT_EQ(lead.value(), milliseconds(24)) << "remembered for another sixteen";
  add(lead, ReadLead::kReads, milliseconds(1));
  EXPECT_EQ(lead.value(), kPeriod / 3);
}

TEST(ReadLead, AMissedFrameHasTheNextOnesReadAtOnce) {
  ReadLead lead(kPeriod);
  add(lead, ReadLead::kReads, milliseconds(1));
  lead.miss();
  EXPECT_EQ(lead.value(), kPeriod);
}

/// Frames at 20 per second, or of a video that says so and whose frames are 30 and 70 ms apart; and when each read
/// began.
class NotingReader final : public FrameReader {
 public:
  NotingReader(std::vector<Clock::time_point>& begun, bool is_even) : begun_(begun), is_even_(is_even) {
    info_.frame_rate = 20;
  }
  const SourceInfo& info() const override { return info_; }
  Outcome<Frame> read(FrameAllocator& allocator) override {
    Frame frame;
    frame.timestamp_ns = 50'000'000 * static_cast<std::int64_t>(begun_.size());
    if (!is_even_ && begun_.size() % 2 == 1) frame.timestamp_ns -= 20'000'000;
    begun_.push_back(Clock::now());
    frame.lease = allocator.acquire(64);
    return frame;
  }
  void cancel() noexcept override {}

 private:
  SourceInfo info_;
  std::vector<Clock::time_point>& begun_;
  bool is_even_;
};

/// Memory that the GPU 0 is said to read.
class DeviceMemory final : public FrameMemory {
 public:
  MemoryKind kind() const override { return MemoryKind::kPlain; }
  int device() const override { return 0; }
  std::byte* allocate(std::size_t bytes) override { return plain_frame_memory().allocate(bytes); }
  void deallocate(std::byte* memory) noexcept override { plain_frame_memory().deallocate(memory); }
};

/// A pool in the memory of DeviceMemory.
class DevicePool final : public FrameAllocator {
 public:
  FrameLease acquire(std::size_t bytes) override { return pool_.acquire(bytes); }
  FrameLease try_acquire(std::size_t bytes) override { return pool_.try_acquire(bytes); }
  void release(FrameBuffer& buffer) noexcept override { pool_.release(buffer); }
  FrameMemory& memory() override { return memory_; }

 private:
  test::FramePool pool_;
  DeviceMemory memory_;
};

/// From the time of a frame to the read of the next one, of the last reads: at least and at most.
std::pair<Clock::duration, Clock::duration> pauses(FrameAllocator& allocator, bool is_even = true) {
  std::vector<Clock::time_point> begun;
  const auto reader = pace(std::make_unique<NotingReader>(begun, is_even));
  std::vector<Clock::duration> found;
  Clock::time_point captured = Clock::now();
  for (std::size_t i = 0; i < ReadLead::kReads + 8; ++i) {
    const Outcome<Frame> frame = reader->read(allocator);
    if (i > ReadLead::kReads) found.push_back(begun[i] - captured);
    if (frame) captured = frame->captured;
  }
  const auto [least, most] = std::ranges::minmax(found);
  return {least, most};
}

/// A machine that is busy now and then reads some of them at once.
TEST(ReadLead, AFileIsReadShortlyBeforeAFrameIsDue) {
  test::FramePool pool;
  EXPECT_GE(pauses(pool).second, milliseconds(20)) << "of 50 ms, less a third";
}

TEST(ReadLead, BesideAGpuAFileIsReadAtOnce) {
  DevicePool pool;
  EXPECT_LE(pauses(pool).first, milliseconds(20));
}

/// On a busy machine a read may begin late for another reason, but not each time.
TEST(ReadLead, AFileOfAVaryingRateIsReadAtOnce) {
  test::FramePool pool;
  constexpr int kAttempts = 5;
  auto most = Clock::duration::max();
  for (int i = 0; i < kAttempts && most > milliseconds(20); ++i) most = pauses(pool, false).second;
  EXPECT_LE(most, milliseconds(20));
}

}  // namespace
}  // namespace saccade
