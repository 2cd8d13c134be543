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

/// The middle one, or the mean of the middle two; 0 without values.
double median_of(std::span<const double> values);

/// From LOW to HIGH, both included.
struct Interval {
  double low = 0;
  double high = 0;

  bool contains(double value) const { return low <= value && value <= high; }
};

/// A figure and how sure it is.
struct Estimate {
  double value = 0;
  Interval interval;
};

/// How intervals are drawn. The same seed gives the same interval.
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

// Neighbouring blocks are alike (a machine is slow for a while), so that all resampling here draws runs of
// neighbouring blocks, about the cube root of their number long, around the end: the circular block bootstrap of
// Politis and Romano (1992), with the percentile method.

// Blocks of one load of an engine say too little of the next measurement: memory will lie elsewhere (Kalibera and
// Jones, 2013), and machines drift by the minute. So a measurement is taken in several loads, and an interval that is
// to hold for another one is at least as wide as the medians of two loads lie apart: sqrt(2) times their deviation
// times Student's quantile. Whole measurements lie that far apart on a machine that drifts as much by the minute as by
// the second (flicker noise); where loads are independent of one another, the interval is wider than it would have to
// be.

/// The medians of a measurement's blocks, a list for each load of the engine.
using LoadMedians = std::vector<std::vector<double>>;

/// All of them in one list, in the order in which they were taken.
std::vector<double> flattened(const LoadMedians& loads);

/// The median of all blocks, and where that of another such measurement is to be expected: the spread of one resample's
/// median against another's, since both have an error, and that of loads. Throws Error (kInvalidArgument) without
/// blocks.
Estimate repeated_median(const LoadMedians& loads, const BootstrapOptions& options = {});

/// median(numerator) / median(denominator) of blocks that were taken in turn: block i of both is drawn together, so
/// that what slowed down both leaves the ratio alone. Throws Error (kInvalidArgument) where their numbers differ or are
/// 0.
Estimate paired_median_ratio(const BlockPair& blocks, const BootstrapOptions& options = {});

/// The same ratio of measurements that were not taken together: each side is drawn by itself, and the loads of both say
/// how far two measurements lie apart.
Estimate median_ratio(const LoadMedians& numerator, const LoadMedians& denominator,
                      const BootstrapOptions& options = {});

/// Geometric mean of the pairs' ratios as paired_median_ratio() defines them.
Estimate geometric_mean_ratio(std::span<const BlockPair> pairs, const BootstrapOptions& options = {});

/// What a ratio of new to old times means.
enum class Verdict : std::uint8_t { kFaster, kSame, kSlower };
std::string_view to_string(Verdict verdict);
/// Faster or slower only where the ratio is more than TOLERANCE (a share) away from 1 and the interval excludes 1.
Verdict verdict_of(const Estimate& ratio, double tolerance);

}  // namespace saccade
