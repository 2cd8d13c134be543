#pragma once

#include <atomic>

#include "base/clock.hpp"
#include "ffmpeg/handles.hpp"
#include "media/network/rtsp_watch.hpp"

namespace saccade {

/// Ends FFmpeg's blocking calls: at a time, when the RTSP session is damaged or silent, or once stopped. stop(),
/// is_stopped() and expire_at(): any thread; the others: the thread that calls FFmpeg.
class Interrupt {
 public:
  AVIOInterruptCB callback() { return {is_over, this}; }

  /// For all later calls, and those under way.
  void stop() noexcept { stopped_ = true; }
  bool is_stopped() const noexcept { return stopped_; }
  void expire_at(Clock::time_point time) noexcept { until_ = time.time_since_epoch().count(); }
  /// What FFmpeg's messages tell of the RTSP session that uses this.
  network::RtspWatch& session() noexcept { return session_; }
  bool is_damaged() const noexcept { return session_.is_damaged(Clock::now()); }
  /// That of INPUT; null: it has none.
  static Interrupt* of(const AVFormatContext& input) noexcept {
    const AVIOInterruptCB& callback = input.interrupt_callback;
    return callback.callback == is_over ? static_cast<Interrupt*>(callback.opaque) : nullptr;
  }
  bool has_expired() const noexcept {
    const auto now = Clock::now();
    return now.time_since_epoch().count() >= until_ || session_.is_silent(now);
  }

 private:
  static int is_over(void* self) {
    const auto& interrupt = *static_cast<const Interrupt*>(self);
    return interrupt.is_stopped() || interrupt.has_expired() || interrupt.is_damaged() ? 1 : 0;
  }

  std::atomic<bool> stopped_ = false;
  network::RtspWatch session_;
  std::atomic<Clock::rep> until_ = Clock::time_point::max().time_since_epoch().count();
};

}  // namespace saccade
