#include "pipeline/stream/stream_timing.hpp"

#include <gtest/gtest.h>

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

TEST(StreamTiming, TheRateIsBetweenTheFirstFrameAndTheLast) {
  StreamTiming timing(milliseconds(0));
  EXPECT_EQ(timing.rate(), 0);
  const auto start = Clock::now();
  timing.finish_frame(start + std::chrono::seconds(5));
  EXPECT_EQ(timing.rate(), 0);
  for (int i = 1; i <= 10; ++i) timing.finish_frame(start + std::chrono::seconds(5) + i * milliseconds(100));
  EXPECT_DOUBLE_EQ(timing.rate(), 10);
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
