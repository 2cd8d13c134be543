#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/clock.hpp"
#include "pipeline/stream/stage_times.hpp"

namespace saccade {

/// How fast the frames of a source are processed. One thread.
class StreamTiming {
 public:
  /// PERIOD of the frames that are processed, if the source is live; 0: unknown, or it is not.
  explicit StreamTiming(std::chrono::nanoseconds period) : period_(period) {}

  /// Records a result.
  void add(const Latency& latency) noexcept;
  /// Records that a frame's last result was complete at TIME.
  void finish_frame(Clock::time_point time) noexcept;

  const StageTimes& stages() const { return stages_; }
  std::chrono::nanoseconds period() const { return period_; }
  /// StreamSummary::late
  std::optional<std::int64_t> late() const;
  /// StreamSummary::rate
  double rate() const;
  /// The latencies since the last call, at first since the start. Allocates at the first call.
  std::vector<StageSummary> take_recent();

 private:
  std::chrono::nanoseconds period_;
  StageTimes stages_;
  std::unique_ptr<StageTimes> recent_;  ///< null before the first call of take_recent()
  std::int64_t late_ = 0;
  std::int64_t frames_ = 0;
  Clock::time_point first_;  ///< frame
  Clock::time_point last_;   ///< frame
};

}  // namespace saccade
