#include "pipeline/stream/frame_selection.hpp"

#include <gmock/gmock.h>

#include <vector>

namespace saccade {
namespace {

using testing::ElementsAre;

/// The numbers of the frames that are taken, of frames shown at TIMES in milliseconds.
std::vector<std::size_t> taken(const FrameSelection& selection, const std::vector<double>& times) {
  FrameSelector selector(selection);
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < times.size(); ++i)
    if (selector.takes(static_cast<std::int64_t>(times[i] * 1e6))) numbers.push_back(i);
  return numbers;
}

/// COUNT frames at RATE per second from START milliseconds on.
std::vector<double> at_rate(double rate, int count, double start = 0) {
  std::vector<double> times;
  for (int i = 0; i < count; ++i) times.push_back(start + 1000 * i / rate);
  return times;
}

TEST(FrameSelection, TakesAll) { EXPECT_THAT(taken({}, at_rate(30, 4)), ElementsAre(0, 1, 2, 3)); }

TEST(FrameSelection, TakesEveryNth) {
  EXPECT_THAT(taken({.every = 3}, at_rate(30, 8)), ElementsAre(0, 3, 6));
  EXPECT_THAT(taken({.every = 3}, std::vector<double>(5, 0)), ElementsAre(0, 3)) << "images have no times";
}

TEST(FrameSelection, LimitsTheRate) {
  EXPECT_THAT(taken({.max_rate = 10, .source_rate = 30}, at_rate(30, 8)), ElementsAre(0, 3, 6));
  EXPECT_EQ(taken({.max_rate = 20, .source_rate = 30}, at_rate(30, 300)).size(), 200U);
  EXPECT_EQ(taken({.max_rate = 12.5, .source_rate = 29.97}, at_rate(29.97, 2997)).size(), 1250U);
}

TEST(FrameSelection, TakesAllOfASlowerSource) {
  EXPECT_EQ(taken({.max_rate = 30, .source_rate = 30}, at_rate(30, 300)).size(), 300U);
  EXPECT_EQ(taken({.max_rate = 60, .source_rate = 30}, at_rate(30, 300)).size(), 300U);
}

TEST(FrameSelection, ToleratesJitter) {
  std::vector<double> times = at_rate(30, 300);
  for (std::size_t i = 0; i < times.size(); ++i) times[i] += i % 3 == 0 ? 0 : i % 3 == 1 ? 4 : -4;
  EXPECT_EQ(taken({.max_rate = 30, .source_rate = 30}, times).size(), 300U);
  EXPECT_NEAR(static_cast<double>(taken({.max_rate = 10, .source_rate = 30}, times).size()), 100, 1);
}

TEST(FrameSelection, LimitsTheRateOfEveryNth) {
  EXPECT_THAT(taken({.every = 2, .max_rate = 5, .source_rate = 30}, at_rate(30, 14)), ElementsAre(0, 6, 12));
}

TEST(FrameSelection, DoesNotMakeUpForAGap) {
  std::vector<double> times = at_rate(30, 3);
  for (const double time : at_rate(30, 6, 5000)) times.push_back(time);
  EXPECT_THAT(taken({.max_rate = 10, .source_rate = 30}, times), ElementsAre(0, 3, 6));
}

TEST(FrameSelection, BeginsAgainWhereTimeJumpsBack) {
  std::vector<double> times = at_rate(30, 3, 100'000);
  for (const double time : at_rate(30, 4)) times.push_back(time);
  EXPECT_THAT(taken({.max_rate = 10, .source_rate = 30}, times), ElementsAre(0, 3, 6));
}

TEST(FrameSelection, LimitsASourceOfUnknownRate) {
  EXPECT_THAT(taken({.max_rate = 10}, {0, 50, 90, 140, 150, 210}), ElementsAre(0, 2, 5));
  std::vector<double> times = at_rate(30, 300);
  for (std::size_t i = 0; i < times.size(); ++i) times[i] += i % 3 == 0 ? 0 : i % 3 == 1 ? 4 : -4;
  EXPECT_EQ(taken({.max_rate = 30}, times).size(), 300U);
}

}  // namespace
}  // namespace saccade
