#include "media/network/backlog.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

namespace saccade::network {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// A stream at 10 frames per second that arrives in time, with a key frame each KEYS.
class BacklogTest : public ::testing::Test {
 protected:
  /// Pushes the next COUNT packets.
  void push(int count, int keys = 10, std::size_t bytes = 100) {
    for (int i = 0; i < count; ++i) {
      backlog.push(next, {.decoded = milliseconds(100 * next),
                          .arrival = start + milliseconds(100 * next),
                          .bytes = bytes,
                          .is_key = next % keys == 0});
      ++next;
    }
  }

  /// Pops all packets.
  std::vector<int> rest() {
    std::vector<int> numbers;
    while (!backlog.empty()) numbers.push_back(backlog.pop().packet);
    return numbers;
  }

  const Clock::time_point start = Clock::now();
  Backlog<int> backlog;
  int next = 0;
};

TEST_F(BacklogTest, KeepsASecondOfPackets) {
  push(11);
  EXPECT_EQ(backlog.size(), 11U) << "from 0 to 1 s";
  EXPECT_EQ(backlog.take_dropped(), 0);
  const auto first = backlog.pop();
  EXPECT_EQ(first.packet, 0);
  EXPECT_FALSE(first.follows_gap);
}

TEST_F(BacklogTest, ThatIsFurtherBehindGoesOnAtTheNewestKeyFrame) {
  push(12);
  EXPECT_EQ(backlog.take_dropped(), 10);
  EXPECT_EQ(backlog.take_dropped(), 0) << "once";
  const auto key = backlog.pop();
  EXPECT_EQ(key.packet, 10);
  EXPECT_TRUE(key.follows_gap);
  const auto after = backlog.pop();
  EXPECT_EQ(after.packet, 11);
  EXPECT_FALSE(after.follows_gap);
}

TEST_F(BacklogTest, WhatCameBeforeTheFirstReaderIsNotCounted) {
  backlog.begin();
  push(35);
  backlog.begin();
  EXPECT_EQ(backlog.take_dropped(), 0);
  EXPECT_EQ(rest(), (std::vector{30, 31, 32, 33, 34}));
}

TEST_F(BacklogTest, WithoutAKeyFrameGoesOnAtTheNextOne) {
  push(1, 30);
  EXPECT_EQ(backlog.pop().packet, 0);
  push(24, 30);
  EXPECT_TRUE(backlog.empty());
  EXPECT_EQ(backlog.take_dropped(), 24);
  push(7, 30);
  EXPECT_EQ(backlog.take_dropped(), 5) << "25 to 29";
  const auto key = backlog.pop();
  EXPECT_EQ(key.packet, 30);
  EXPECT_TRUE(key.follows_gap);
  EXPECT_EQ(rest(), std::vector{31});
}

TEST_F(BacklogTest, IsBoundedByTheClockWhereTimestampsStandStill) {
  for (int i = 0; i < 30; ++i)
    backlog.push(i, {.decoded = milliseconds(0), .arrival = start + milliseconds(100 * i), .bytes = 1, .is_key = true});
  EXPECT_LE(backlog.size(), 11U);
  EXPECT_EQ(static_cast<std::size_t>(backlog.take_dropped()) + backlog.size(), 30U);
}

TEST_F(BacklogTest, IsBoundedByTimestampsWhereTheyComeAtOnce) {
  for (int i = 0; i < 100; ++i)
    backlog.push(i, {.decoded = milliseconds(100 * i), .arrival = start, .bytes = 1, .is_key = i % 5 == 0});
  EXPECT_LE(backlog.size(), 11U);
  EXPECT_EQ(static_cast<std::size_t>(backlog.take_dropped()) + backlog.size(), 100U);
}

TEST_F(BacklogTest, AFloodIsBoundedByItsBytes) {
  std::size_t pushed = 0;
  for (int i = 0; i < 1000; ++i, ++pushed)
    backlog.push(i, {.decoded = {}, .arrival = start, .bytes = std::size_t{1} << 20, .is_key = i % 20 == 0});
  EXPECT_LE(backlog.size(), 64U);
  EXPECT_EQ(static_cast<std::size_t>(backlog.take_dropped()) + backlog.size(), pushed);
}

TEST_F(BacklogTest, AJumpOfTheTimestampsIsNoDelay) {
  const std::int64_t far = INT64_MAX;
  for (const std::int64_t time : {std::int64_t{0}, far, -far, std::int64_t{100}, std::int64_t{3'600'000'000'000}})
    backlog.push(1, {.decoded = std::chrono::nanoseconds(time), .arrival = start, .bytes = 1, .is_key = true});
  EXPECT_EQ(backlog.size(), 5U);
}

TEST_F(BacklogTest, ASlowStreamMayHaveTwoFrames) {
  for (int i = 0; i < 2; ++i)
    backlog.push(i, {.decoded = seconds(5 * i), .arrival = start + seconds(5 * i), .bytes = 1, .is_key = true});
  EXPECT_EQ(rest(), (std::vector{0, 1}));
}

/// Whatever comes and goes, every packet is popped or dropped, in order, and a gap ends with a key frame.
TEST_F(BacklogTest, EveryPacketIsAccountedFor) {
  std::mt19937 random(5);
  for (int round = 0; round < 50; ++round) {
    Backlog<std::unique_ptr<int>> packets;
    std::int64_t popped = 0;
    std::int64_t dropped = 0;
    int last = -1;
    for (int i = 0; i < 500; ++i) {
      packets.push(std::make_unique<int>(i), {.decoded = milliseconds(40 * i),
                                              .arrival = start + milliseconds(40 * i),
                                              .bytes = random() % 100,
                                              .is_key = random() % 12 == 0});
      while (!packets.empty() && random() % 40 != 0 && random() % 2 == 0) {
        dropped += packets.take_dropped();
        const auto item = packets.pop();
        EXPECT_EQ(item.follows_gap, *item.packet != last + 1);
        EXPECT_TRUE(!item.follows_gap || item.facts.is_key);
        last = *item.packet;
        ++popped;
      }
    }
    dropped += packets.take_dropped();
    EXPECT_EQ(popped + dropped + static_cast<std::int64_t>(packets.size()), 500);
  }
}

}  // namespace
}  // namespace saccade::network
