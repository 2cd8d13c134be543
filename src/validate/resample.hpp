#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "measure/statistics/statistics.hpp"
#include "validate/data/evaluator.hpp"

namespace saccade {

struct ResampleOptions {
  int resamples = 1000;
  double confidence = 0.95;
  std::uint64_t seed = 1;
};

/// Fewer resamples cannot estimate the ends of an interval.
inline constexpr int kFewestResamples = 20;

/// The result of resampling.
struct Resampled {
  std::optional<Interval> interval;  ///< nullopt below kFewestResamples
  int resamples = 0;                 ///< valid resamples
};

/// The paired bootstrap of A's primary metric minus B's over IMAGES images. Images are drawn with replacement, the
/// same ones for both, and the interval holds `confidence` of the differences (percentile method). Resamples without
/// data for either model do not count. ON_PROGRESS receives the progress; returning false ends the resampling.
Resampled paired_difference(const Headline& a, const Headline& b, std::size_t images, const ResampleOptions& options,
                            const std::function<bool(double share)>& on_progress = {});

}  // namespace saccade
