#pragma once

#include <mutex>
#include <optional>

#include "base/clock.hpp"
#include "saccade/summary.hpp"

namespace saccade {

/// The outages of a source. One thread writes, any thread reads.
class OutageLog {
 public:
  /// RATE in frames per second; 0: unknown.
  explicit OutageLog(double rate) : rate_(rate) {}

  /// Counts a frame, which ends an outage; returns that outage's duration.
  std::optional<std::chrono::nanoseconds> end(Clock::time_point now);
  /// Begins an outage at the last frame. False if one has begun.
  bool begin();

  /// The source has ended at NOW: an outage lasts no longer.
  void close(Clock::time_point now);

  bool is_out() const;
  Outages snapshot(Clock::time_point now) const;

 private:
  Outage ongoing(Clock::time_point now) const;

  const double rate_;
  const Clock::time_point start_ = Clock::now();
  mutable std::mutex mutex_;
  Clock::time_point last_ = start_;  ///< frame
  bool out_ = false;
  Outages past_;
};

}  // namespace saccade
