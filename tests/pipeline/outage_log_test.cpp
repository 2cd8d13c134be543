#include "pipeline/stream/outage_log.hpp"

#include <gtest/gtest.h>

namespace saccade {
namespace {

using std::chrono::milliseconds;

TEST(OutageLog, AnOutageIsFromTheLastFrameToTheNext) {
  OutageLog log(50);
  const auto start = Clock::now();
  EXPECT_FALSE(log.end(start));
  EXPECT_TRUE(log.begin());
  EXPECT_FALSE(log.begin()) << "it has begun";
  EXPECT_TRUE(log.is_out());
  const Outages ongoing = log.snapshot(start + milliseconds(60));
  EXPECT_EQ(ongoing.count, 1);
  EXPECT_EQ(ongoing.duration, milliseconds(60));
  EXPECT_EQ(log.end(start + milliseconds(100)), milliseconds(100));
  EXPECT_FALSE(log.is_out());
  const Outages past = log.snapshot(start + milliseconds(500));
  EXPECT_EQ(past.count, 1);
  EXPECT_EQ(past.duration, milliseconds(100));
  EXPECT_EQ(past.missed, 4) << "a frame each 20 ms, and the next one is there";
  ASSERT_EQ(past.latest.size(), 1U);
  EXPECT_TRUE(past.latest[0].is_over);
  EXPECT_FALSE(log.end(start + milliseconds(600))) << "no frame for long is no outage unless it was begun";
}

TEST(OutageLog, AnOutageEndsWithItsSource) {
  OutageLog log(50);
  const auto start = Clock::now();
  log.end(start);
  log.begin();
  log.close(start + milliseconds(100));
  EXPECT_EQ(log.snapshot(start + milliseconds(5000)).duration, milliseconds(100));
  EXPECT_EQ(log.snapshot(start + milliseconds(5000)).missed, 4);
  EXPECT_FALSE(log.snapshot(start + milliseconds(5000)).latest.at(0).is_over);
}

TEST(OutageLog, WithoutARateNothingIsMissed) {
  OutageLog log(0);
  const auto start = Clock::now();
  log.end(start);
  log.begin();
  log.end(start + milliseconds(1000));
  EXPECT_EQ(log.snapshot(start).missed, 0);
}

TEST(OutageLog, KeepsTheLatestAndCountsAll) {
  OutageLog log(10);
  auto now = Clock::now();
  for (int i = 0; i < 40; ++i) {
    log.end(now);
    log.begin();
    now += milliseconds(100 * (i + 1));
  }
  log.end(now);
  const Outages outages = log.snapshot(now);
  EXPECT_EQ(outages.count, 40);
  EXPECT_EQ(outages.latest.size(), 16U);
  EXPECT_EQ(outages.latest.back().duration, milliseconds(4000));
  EXPECT_EQ(outages.duration, milliseconds(100 * 40 * 41 / 2));
  EXPECT_EQ(outages.before_first.count(), 0) << "a frame came first";
}

TEST(OutageLog, RemembersTheOneBeforeTheFirstFrame) {
  OutageLog log(10);
  log.begin();
  auto now = Clock::now() + std::chrono::seconds(3);
  EXPECT_GE(log.snapshot(now).before_first, std::chrono::seconds(3)) << "it goes on";
  const auto first = log.end(now);
  ASSERT_TRUE(first);
  for (int i = 0; i < 20; ++i) {
    log.begin();
    log.end(now += milliseconds(500));
  }
  EXPECT_EQ(log.snapshot(now).before_first, *first) << "it is none of the latest";
}

}  // namespace
}  // namespace saccade
