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

/// Fewer resampled sets say nothing about an interval's ends.
inline constexpr int kFewestResamples = 20;

/// What resampled sets say.
struct Resampled {
  std::optional<Interval> interval;  ///< none of fewer than kFewestResamples
  int resamples = 0;                 ///< that count
};

/// Where A's headline less B's would lie on other sets of so many PICTURES: the paired bootstrap. Images are drawn
/// with replacement, the same ones for both, and the interval holds `confidence` of the differences (percentile
/// method). Draws on which either has nothing to measure do not count. ON_PROGRESS gets the share that is done; false
/// from it ends the drawing.
Resampled paired_difference(const Headline& a, const Headline& b, std::size_t pictures, const ResampleOptions& options,
                            const std::function<bool(double share)>& on_progress = {});

}  // namespace saccade
