#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/clock.hpp"
#include "pipeline/stream/stage_times.hpp"

namespace saccade {

/// How fast the frames of a source are processed. Any thread.
class StreamTiming {
 public:
  /// PERIOD of the frames that are processed, if the source is live; 0: unknown, or it is not.
  explicit StreamTiming(std::chrono::nanoseconds period) : period_(period) {}

  /// Records a result.
  void add(const Latency& latency) noexcept;
  /// Records that a frame's last result was complete at TIME.
  void finish_frame(Clock::time_point time) noexcept;

  /// A copy: it is too large for the stack.
  std::unique_ptr<StageTimes> stages() const;
  std::chrono::nanoseconds period() const { return period_; }
  /// StreamSummary::late
  std::optional<std::int64_t> late() const;
  /// StreamSummary::rate
  double rate() const;
  /// The latencies since the last call, at first since the start.
  std::vector<StageSummary> take_recent();

 private:
  const std::chrono::nanoseconds period_;
  mutable std::mutex mutex_;
  StageTimes stages_;
  std::unique_ptr<StageTimes> recent_;  ///< null before the first call of take_recent()
  std::int64_t late_ = 0;
  std::int64_t frames_ = 0;
  Clock::time_point first_;  ///< frame
  Clock::time_point last_;   ///< frame
};

}  // namespace saccade
