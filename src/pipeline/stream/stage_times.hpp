#pragma once

#include <array>
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

  const Histogram& total() const { return times_.back(); }
  /// In pipeline order, without "sensor" if its clock is unknown.
  std::vector<StageSummary> summarize() const;
  /// The bottleneck where STREAMS capture concurrently with each other and with the models, of which MODELS run one
  /// after the other.
  std::string bottleneck(std::size_t streams, double models) const;

 private:
  static constexpr std::size_t kStages = 7;  ///< those of Latency
  std::array<Histogram, kStages> times_;     ///< in pipeline order; the last is the total
};

}  // namespace saccade
