#pragma once

#include <vector>

#include "base/histogram.hpp"
#include "saccade/results.hpp"
#include "saccade/summary.hpp"

namespace saccade {

/// A histogram's figures.
Distribution distribution_of(const Histogram& histogram);

/// Where the time of all frames went, in fixed memory. One thread.
class StageTimes {
 public:
  void add(const Latency& latency) noexcept;

  const Histogram& total() const { return total_; }
  /// In the order of a frame's way.
  std::vector<StageSummary> summarize() const;
  /// The stage that sets the rate of PROCESSED frames out of STREAMS, which capture side by side, and beside the
  /// models, so many of which run one after the other.
  std::string bottleneck(std::size_t streams, std::size_t models) const;

 private:
  Histogram capture_;
  Histogram queue_;
  Histogram pre_;
  Histogram model_;
  Histogram post_;
  Histogram total_;
};

}  // namespace saccade
