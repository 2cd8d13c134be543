#include "base/histogram.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace saccade {
namespace {

using std::chrono::nanoseconds;

TEST(Histogram, IsExactBelow256) {
  Histogram histogram;
  for (int i = 1; i <= 100; ++i) histogram.add(nanoseconds(i));
  EXPECT_EQ(histogram.percentile(50), nanoseconds(50));
  EXPECT_EQ(histogram.percentile(99), nanoseconds(99));
  EXPECT_EQ(histogram.percentile(100), nanoseconds(100));
  EXPECT_EQ(histogram.min(), nanoseconds(1));
  EXPECT_EQ(histogram.mean(), nanoseconds(50));
}

TEST(Histogram, PercentilesAreWithinHalfAPercent) {
  for (double scale : {1e3, 1e5, 1e7, 1e9}) {
    Histogram histogram;
    for (int i = 1; i <= 1000; ++i) histogram.add(nanoseconds(static_cast<std::int64_t>(i * scale)));
    for (double percent : {1.0, 50.0, 90.0, 99.0, 99.9}) {
      const double exact = percent * 10 * scale;
      EXPECT_NEAR(static_cast<double>(histogram.percentile(percent).count()), exact, 0.005 * exact) << percent;
    }
  }
}

TEST(Histogram, DeviationOfTwoValues) {
  Histogram histogram;
  histogram.add(nanoseconds(1000));
  histogram.add(nanoseconds(3000));
  EXPECT_EQ(histogram.mean(), nanoseconds(2000));
  EXPECT_EQ(histogram.deviation(), nanoseconds(1000));
}

TEST(Histogram, KeepsExtremesApartFromTheRest) {
  Histogram histogram;
  histogram.add(nanoseconds(-5));
  histogram.add(std::chrono::hours(48));
  EXPECT_EQ(histogram.min(), nanoseconds(0));
  EXPECT_EQ(histogram.max(), std::chrono::hours(48));
  EXPECT_EQ(histogram.count(), 2);
}

TEST(Histogram, AddsTheSamplesOfAnother) {
  Histogram all;
  Histogram low;
  Histogram high;
  for (int i = 1; i <= 1000; ++i) {
    all.add(nanoseconds(i * i));
    (i <= 300 ? low : high).add(nanoseconds(i * i));
  }
  Histogram sum;
  for (const Histogram& each : {high, Histogram(), low}) sum.add(each);
  EXPECT_EQ(sum.count(), all.count());
  EXPECT_EQ(sum.min(), all.min());
  EXPECT_EQ(sum.max(), all.max());
  EXPECT_EQ(sum.mean(), all.mean());
  EXPECT_EQ(sum.deviation(), all.deviation());
  for (const double percent : {1.0, 30.0, 50.0, 99.9}) EXPECT_EQ(sum.percentile(percent), all.percentile(percent));
}

TEST(Histogram, IsZeroWithoutSamples) {
  const Histogram histogram;
  EXPECT_EQ(histogram.percentile(50), nanoseconds(0));
  EXPECT_EQ(histogram.mean(), nanoseconds(0));
  EXPECT_EQ(histogram.deviation(), nanoseconds(0));
}

TEST(Histogram, VisitsItsBucketsWithinItsRange) {
  Histogram histogram;
  for (std::int64_t value : {7, 7, 300, 301, 100'000}) histogram.add(std::chrono::nanoseconds(value));
  std::vector<std::int64_t> lows;
  std::int64_t count = 0;
  histogram.visit([&](const Histogram::Bucket& bucket) {
    lows.push_back(bucket.low.count());
    count += bucket.count;
    EXPECT_GT(bucket.width.count(), 0);
    EXPECT_LE((bucket.low + bucket.width).count(), 100'001);
  });
  // From 256 ns on a bucket is 2 ns wide, from 2^16 on 512 ns.
  EXPECT_EQ(lows, (std::vector<std::int64_t>{7, 300, 99'840}));
  EXPECT_EQ(count, 5);
}

}  // namespace
}  // namespace saccade
