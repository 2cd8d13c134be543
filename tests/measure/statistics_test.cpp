#include "measure/statistics/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "saccade/error.hpp"

namespace saccade {
namespace {

using std::chrono::nanoseconds;

TEST(Statistics, PercentilesAreExactByNearestRank) {
  std::vector<nanoseconds> samples;
  for (int i = 200; i >= 1; --i) samples.emplace_back(i);
  const Distribution found = distribution_of(samples);
  EXPECT_EQ(found.count, 200);
  EXPECT_EQ(found.min.count(), 1);
  EXPECT_EQ(found.p50.count(), 100);
  EXPECT_EQ(found.p90.count(), 180);
  EXPECT_EQ(found.p95.count(), 190);
  EXPECT_EQ(found.p99.count(), 198);
  EXPECT_EQ(found.max.count(), 200);
  EXPECT_EQ(found.mean.count(), 101);      // 100.5
  EXPECT_EQ(found.deviation.count(), 58);  // sqrt((200^2 - 1) / 12) = 57.73
}

TEST(Statistics, OneSampleIsAllOfIt) {
  const std::vector<nanoseconds> one = {nanoseconds(7)};
  const Distribution found = distribution_of(one);
  EXPECT_EQ(found.p50.count(), 7);
  EXPECT_EQ(found.p99.count(), 7);
  EXPECT_EQ(found.deviation.count(), 0);
  EXPECT_EQ(distribution_of(std::vector<nanoseconds>{}).count, 0);
}

TEST(Statistics, MedianOfAnEvenNumberIsBetweenTheMiddleTwo) {
  EXPECT_EQ(median_of(std::vector<double>{4, 1, 3}), 3);
  EXPECT_EQ(median_of(std::vector<double>{4, 1, 3, 10}), 3.5);
  EXPECT_EQ(median_of({}), 0);
}

TEST(Statistics, BlocksThatAreAllAlikeLeaveNoDoubt) {
  const std::vector<double> twos(12, 2.0);
  const std::vector<double> fours(12, 4.0);
  const Estimate ratio = paired_median_ratio({twos, fours});
  EXPECT_EQ(ratio.value, 0.5);
  EXPECT_EQ(ratio.interval.low, 0.5);
  EXPECT_EQ(ratio.interval.high, 0.5);
  const Estimate median = repeated_median({twos, twos, twos});
  EXPECT_EQ(median.interval.low, 2);
  EXPECT_EQ(median.interval.high, 2);
}

TEST(Statistics, WhatSlowsDownBothLeavesAPairedRatioAlone) {
  std::vector<double> a;
  std::vector<double> b;
  for (int i = 0; i < 30; ++i) {
    const double slow = i < 15 ? 1 : 3;
    a.push_back(2 * slow);
    b.push_back(1 * slow);
  }
  const Estimate paired = paired_median_ratio({a, b});
  EXPECT_DOUBLE_EQ(paired.interval.low, 2);
  EXPECT_DOUBLE_EQ(paired.interval.high, 2);
  const Estimate apart = median_ratio({a}, {b});
  EXPECT_LT(apart.interval.low, 1);
  EXPECT_GT(apart.interval.high, 5);
}

/// COUNT numbers around MEAN, autocorrelated as a machine's noise is.
std::vector<double> noise(std::mt19937_64& generator, int count, double mean) {
  std::vector<double> values;
  double drift = 0;
  for (int i = 0; i < count; ++i) {
    drift = 0.5 * drift + static_cast<double>(generator() % 1000) / 1000 - 0.5;
    values.push_back(mean * (1 + 0.1 * drift));
  }
  return values;
}

TEST(Statistics, IntervalsCoverTheTruthAboutAsOftenAsTheySay) {
  std::mt19937_64 generator(7);
  constexpr int kTrials = 200;
  int ratios = 0;
  int means = 0;
  int repeats = 0;
  for (int i = 0; i < kTrials; ++i) {
    const auto a = noise(generator, 30, 3);
    const auto b = noise(generator, 30, 2);
    ratios += static_cast<int>(paired_median_ratio({a, b}, {.resamples = 300}).interval.contains(1.5));
    const std::vector<BlockPair> pairs = {{a, b}, {b, a}};
    means += static_cast<int>(geometric_mean_ratio(pairs, {.resamples = 300}).interval.contains(1));
    const auto again = noise(generator, 30, 3);
    repeats += static_cast<int>(repeated_median({a}, {.resamples = 300}).interval.contains(median_of(again)));
  }
  // 95 % requested; short correlated series cover somewhat less.
  EXPECT_GE(ratios, 165);
  EXPECT_GE(repeats, 165);
  EXPECT_GE(means, 165);
  EXPECT_LT(ratios, kTrials);  // an interval that always covers is useless
  EXPECT_LT(repeats, kTrials);
}

/// Loads of different speeds and hardly any noise; with DRIFT, a random walk from SPEED.
LoadMedians loads(std::mt19937_64& generator, bool drift, double& speed) {
  LoadMedians all;
  for (int load = 0; load < 5; ++load) {
    const double step = 0.1 * (static_cast<double>(generator() % 1000) / 1000 - 0.5);
    speed = drift ? speed + step / 2 : 1 + step;
    all.push_back(noise(generator, 6, speed));
    for (double& block : all.back()) block = speed + (block - speed) / 50;
  }
  return all;
}

TEST(Statistics, LoadsSayHowFarAnotherMeasurementMayBe) {
  std::mt19937_64 generator(11);
  constexpr int kTrials = 200;
  for (const bool drift : {false, true}) {
    int covered = 0;
    int by_blocks = 0;
    for (int i = 0; i < kTrials; ++i) {
      double speed = 1;
      const LoadMedians once = loads(generator, drift, speed);
      const double median = median_of(flattened(loads(generator, drift, speed)));
      covered += static_cast<int>(repeated_median(once, {.resamples = 300}).interval.contains(median));
      by_blocks += static_cast<int>(repeated_median({flattened(once)}, {.resamples = 300}).interval.contains(median));
    }
    // 95 % requested; a random walk exceeds what the loads can estimate.
    EXPECT_GE(covered, drift ? 170 : 185) << drift;
    EXPECT_LT(by_blocks, covered) << drift;
  }
}

TEST(Statistics, TheSpreadOfLoadsCountsByStudentsQuantile) {
  // Two loads: one difference, ln 1.01; Student's quantile for 95 % and one degree is 12.706.
  const Estimate two = repeated_median({std::vector<double>(6, 1.0), std::vector<double>(6, 1.01)});
  EXPECT_NEAR(two.interval.high / two.value, std::pow(1.01, 12.706), 1e-4);
  // Five: 2.776, and a deviation of sqrt(0.3).
  const std::vector<double> a(6, 1.0);
  const std::vector<double> b(6, 1.01);
  const Estimate five = repeated_median({a, b, a, b, a});
  EXPECT_NEAR(five.value / five.interval.low, std::pow(1.01, 2.776 * std::sqrt(0.6)), 1e-4);
  const Estimate ratio = median_ratio({a, b}, {b, a});
  EXPECT_NEAR(ratio.interval.high / ratio.value, std::pow(1.01, 4.303), 1e-4);
}

TEST(Statistics, TheSeedDecides) {
  std::mt19937_64 generator(7);
  const auto a = noise(generator, 20, 3);
  const Estimate once = repeated_median({a}, {.seed = 5});
  EXPECT_EQ(repeated_median({a}, {.seed = 5}).interval.low, once.interval.low);
  EXPECT_NE(repeated_median({a}, {.seed = 6}).interval.low, once.interval.low);
}

TEST(Statistics, TheGeometricMeanOfTwiceAndHalfIsOne) {
  const std::vector<double> ones(10, 1.0);
  const std::vector<double> twos(10, 2.0);
  const std::vector<BlockPair> pairs = {{ones, twos}, {twos, ones}, {twos, ones}, {ones, twos}};
  EXPECT_DOUBLE_EQ(geometric_mean_ratio(pairs).value, 1);
  const std::vector<BlockPair> one_way = {{twos, ones}, {std::span(ones), std::span(ones)}};
  EXPECT_DOUBLE_EQ(geometric_mean_ratio(one_way).value, std::sqrt(2.0));
}

TEST(Statistics, VerdictsNeedBothSizeAndCertainty) {
  EXPECT_EQ(verdict_of({1.10, {1.06, 1.14}}, 0.05), Verdict::kSlower);
  EXPECT_EQ(verdict_of({1.10, {0.98, 1.30}}, 0.05), Verdict::kSame);
  EXPECT_EQ(verdict_of({1.04, {1.03, 1.05}}, 0.05), Verdict::kSame);
  EXPECT_EQ(verdict_of({0.90, {0.85, 0.95}}, 0.05), Verdict::kFaster);
  EXPECT_EQ(verdict_of({0.90, {0.85, 1.01}}, 0.05), Verdict::kSame);
}

TEST(Statistics, NothingCanNotBeCompared) {
  const std::vector<double> one = {1};
  const std::vector<double> two = {1, 2};
  EXPECT_THROW(repeated_median({}), Error);
  EXPECT_THROW(paired_median_ratio({one, two}), Error);
  EXPECT_THROW(median_ratio({one}, {}), Error);
  EXPECT_THROW(geometric_mean_ratio({}), Error);
}

}  // namespace
}  // namespace saccade
