#include "pipeline/stream/stream_timing.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace saccade {
namespace {

using std::chrono::milliseconds;

std::int64_t count_of(const std::vector<StageSummary>& stages) { return stages.back().time.count; }

TEST(StreamTiming, ALateResultTakesLongerThanAPeriod) {
  StreamTiming timing(milliseconds(16));
  for (const int total : {15, 16, 17, 40}) timing.add({.total = milliseconds(total)});
  EXPECT_EQ(timing.late(), 2);
  EXPECT_FALSE(StreamTiming(milliseconds(0)).late()) << "not live";
}

TEST(StreamTiming, TheTimeBeforeTheCaptureDoesNotMakeAResultLate) {
  StreamTiming timing(milliseconds(16));
  timing.add({.sensor = milliseconds(200), .total = milliseconds(216)});
  timing.add({.sensor = milliseconds(200), .total = milliseconds(217)});
  EXPECT_EQ(timing.late(), 1);
}

TEST(StreamTiming, TheRateIsBetweenTheFirstFrameAndTheLast) {
  StreamTiming timing(milliseconds(0));
  EXPECT_EQ(timing.rate(), 0);
  const auto start = Clock::now();
  timing.finish_frame(start + std::chrono::seconds(5));
  EXPECT_EQ(timing.rate(), 0);
  for (int i = 1; i <= 10; ++i) timing.finish_frame(start + std::chrono::seconds(5) + i * milliseconds(100));
  EXPECT_DOUBLE_EQ(timing.rate(), 10);
}

TEST(StreamTiming, LatenciesAreCountedUpToEachBound) {
  StreamTiming timing(milliseconds(0));
  for (const int total : {1, 3, 3, 60'000}) timing.add({.total = milliseconds(total)});
  const Distribution time = timing.stages()->summarize().back().time;
  EXPECT_EQ(time.sum, milliseconds(60'007));
  const auto at_most = [&](std::chrono::nanoseconds bound) {
    return time.at_most[static_cast<std::size_t>(std::ranges::find(kLatencyBounds, bound) - kLatencyBounds.begin())];
  };
  EXPECT_EQ(at_most(std::chrono::microseconds(500)), 0);
  EXPECT_EQ(at_most(milliseconds(2)), 1);
  EXPECT_EQ(at_most(milliseconds(5)), 3);
  EXPECT_EQ(at_most(std::chrono::seconds(10)), 3) << "a longer one is beyond the last bound";
  EXPECT_TRUE(std::ranges::is_sorted(time.at_most));
}

TEST(StreamTiming, RecentResultsAreThoseSinceTheLastCall) {
  StreamTiming timing(milliseconds(0));
  for (int i = 0; i < 3; ++i) timing.add({});
  EXPECT_EQ(count_of(timing.take_recent()), 3) << "since the start";
  EXPECT_EQ(count_of(timing.take_recent()), 0);
  timing.add({});
  EXPECT_EQ(count_of(timing.take_recent()), 1);
  EXPECT_EQ(count_of(timing.stages()->summarize()), 4);
}

}  // namespace
}  // namespace saccade
