#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "saccade/summary.hpp"

namespace saccade {

/// Percentiles by nearest rank, exact; all zero without samples.
Distribution distribution_of(std::span<const std::chrono::nanoseconds> samples);

/// The median; of an even number the mean of the middle two; 0 without values.
double median_of(std::span<const double> values);

/// From LOW to HIGH, both included.
struct Interval {
  double low = 0;
  double high = 0;

  bool contains(double value) const { return low <= value && value <= high; }
};

/// An estimate and its confidence interval.
struct Estimate {
  double value = 0;
  Interval interval;
};

/// Bootstrap parameters. The same seed gives the same interval.
struct BootstrapOptions {
  int resamples = 2000;
  double confidence = 0.95;
  std::uint64_t seed = 1;
};

/// Two measurements in blocks: the medians of each, in the order in which they were taken.
struct BlockPair {
  std::span<const double> numerator;
  std::span<const double> denominator;
};

// Neighbouring blocks are correlated (a machine is slow for a while), so resampling draws runs of neighbouring blocks,
// about the cube root of their number long, with wrap-around: the circular block bootstrap of Politis and Romano
// (1992), with the percentile method.

// Blocks of one load say too little about the next measurement: memory placement changes (Kalibera and Jones, 2013),
// and machines drift over minutes. So a measurement consists of several loads, and an interval for another measurement
// is at least as wide as the expected distance between the medians of two loads: sqrt(2) times their deviation times
// Student's quantile. Whole measurements differ by that much on a machine with flicker noise, which drifts as much over
// minutes as over seconds; if loads are independent, the interval is conservative.

/// The medians of a measurement's blocks, one list per load.
using LoadMedians = std::vector<std::vector<double>>;

/// All of them in one list, in the order in which they were taken.
std::vector<double> flattened(const LoadMedians& loads);

/// The median of all blocks, and the interval in which another such measurement is expected: the spread between two
/// resamples' medians, since both have an error, and that of loads. Throws Error (kInvalidArgument) without blocks.
Estimate repeated_median(const LoadMedians& loads, const BootstrapOptions& options = {});

/// median(numerator) / median(denominator) of blocks that were taken in turn: block i of both is resampled together, so
/// that common disturbances cancel. Throws Error (kInvalidArgument) if their numbers differ or are 0.
Estimate paired_median_ratio(const BlockPair& blocks, const BootstrapOptions& options = {});

/// The same ratio of independent measurements: each side is resampled by itself, and the loads of both determine how
/// far two measurements differ.
Estimate median_ratio(const LoadMedians& numerator, const LoadMedians& denominator,
                      const BootstrapOptions& options = {});

/// Geometric mean of the pairs' ratios as paired_median_ratio() defines them.
Estimate geometric_mean_ratio(std::span<const BlockPair> pairs, const BootstrapOptions& options = {});

/// The result of a comparison of new with old times.
enum class Verdict : std::uint8_t { kFaster, kSame, kSlower };
std::string_view to_string(Verdict verdict);
/// Faster or slower only if the ratio differs from 1 by more than TOLERANCE (relative) and the interval excludes 1.
Verdict verdict_of(const Estimate& ratio, double tolerance);

}  // namespace saccade
