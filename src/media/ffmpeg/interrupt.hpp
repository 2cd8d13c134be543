#pragma once

#include <atomic>

#include "base/clock.hpp"
#include "ffmpeg/handles.hpp"

namespace saccade {

/// Ends FFmpeg's blocking calls, which return AVERROR_EXIT then: at a time, or once stopped. Any thread.
class Interrupt {
 public:
  AVIOInterruptCB callback() { return {is_over, this}; }

  /// For all later calls, and those under way.
  void stop() noexcept { stopped_ = true; }
  bool is_stopped() const noexcept { return stopped_; }
  void expire_at(Clock::time_point time) noexcept { until_ = time.time_since_epoch().count(); }
  bool has_expired() const noexcept { return Clock::now().time_since_epoch().count() >= until_; }

 private:
  static int is_over(void* self) {
    const auto& interrupt = *static_cast<const Interrupt*>(self);
    return interrupt.is_stopped() || interrupt.has_expired() ? 1 : 0;
  }

  std::atomic<bool> stopped_ = false;
  std::atomic<Clock::rep> until_ = Clock::time_point::max().time_since_epoch().count();
};

}  // namespace saccade
