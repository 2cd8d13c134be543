#pragma once

#include <vector>

#include "base/histogram.hpp"
#include "saccade/results.hpp"
#include "saccade/summary.hpp"

namespace saccade {

/// Statistics of a histogram.
Distribution distribution_of(const Histogram& histogram);

/// Latencies of a source's frames by stage, in fixed memory. One thread.
class StageTimes {
 public:
  void add(const Latency& latency) noexcept;
  /// Adds the frames of OTHER.
  void add(const StageTimes& other) noexcept;
  void clear() noexcept;

  const Histogram& total() const { return total_; }
  /// In pipeline order.
  std::vector<StageSummary> summarize() const;
  /// The bottleneck for PROCESSED frames of STREAMS, which capture concurrently with each other and with the models;
  /// the models run sequentially.
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
