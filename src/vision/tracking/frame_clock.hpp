#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "vision/tracking/box_motion.hpp"
#include "vision/tracking/object_tracker.hpp"

namespace saccade {

/// The time of a tracker. One thread.
class FrameClock {
 public:
  explicit FrameClock(double frame_rate) : rate_(frame_rate > 0 ? frame_rate : kUsualFrameRate), interval_(1 / rate_) {}

  /// The step to a frame at TIME; nothing: it is not later than the last one.
  std::optional<FrameStep> advance(std::chrono::nanoseconds time) {
    if (has_last_ && time <= last_) return std::nullopt;
    const double seconds = has_last_ ? std::chrono::duration<double>(time - last_).count() : 1 / rate_;
    last_ = time;
    has_last_ = true;
    // An outage is not a rate.
    interval_ += kSmoothing * (std::min(seconds, kLongestStep * interval_) - interval_);
    return step(seconds * rate_);
  }
  /// A step of FRAMES at the nominal rate.
  FrameStep step(double frames) const {
    return {.frames = frames, .is_nominal = std::abs(frames - 1) <= std::min(kJitterSeconds * rate_, kJitterFrames)};
  }
  /// Whether a track that was SEEN then is kept no longer than KEEP. One of the frame before always is: frames may be
  /// longer apart than KEEP.
  bool is_over(std::chrono::nanoseconds seen, std::chrono::nanoseconds keep) const {
    const std::chrono::duration<double> since = last_ - seen;
    return since > keep && since.count() > kKeptIntervals * interval_;
  }
  std::chrono::nanoseconds now() const { return last_; }

 private:
  /// Of the timestamps of a stream at its nominal rate.
  static constexpr double kJitterSeconds = 0.004;
  static constexpr double kJitterFrames = 0.5;
  static constexpr double kSmoothing = 0.25;
  static constexpr double kLongestStep = 4;  // intervals
  static constexpr double kKeptIntervals = 1.5;

  double rate_;
  double interval_;  ///< seconds between frames, smoothed
  bool has_last_ = false;
  std::chrono::nanoseconds last_{};
};

}  // namespace saccade
