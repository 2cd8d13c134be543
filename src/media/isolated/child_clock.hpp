#pragma once

#include <chrono>
#include <cstdint>
#include <utility>

#include "base/clock.hpp"

namespace saccade::isolated {

/// Timestamps of a live source, which go on after a restart: the clock of a network stream begins at 0 in every child,
/// that of a camera counts on. Pure arithmetic, of one thread.
class ChildClock {
 public:
  /// The source's timestamp of a frame that has STAMP in its child and arrived at ARRIVAL.
  std::int64_t stamp(std::int64_t stamp, Clock::time_point arrival) {
    // Unsigned: a child may send any number.
    const auto own = static_cast<std::uint64_t>(stamp);
    if (std::exchange(is_restarted_, false)) {
      const auto away = static_cast<std::uint64_t>(std::chrono::nanoseconds(arrival - arrival_).count());
      offset_ = has_begun_ && stamp <= last_ ? static_cast<std::uint64_t>(last_) + away - own : 0;
    }
    has_begun_ = true;
    arrival_ = arrival;
    return last_ = static_cast<std::int64_t>(own + offset_);
  }
  /// Another child follows.
  void restart() { is_restarted_ = true; }

 private:
  bool has_begun_ = false;
  bool is_restarted_ = false;
  std::uint64_t offset_ = 0;  ///< of the child's timestamps; wraps
  std::int64_t last_ = 0;
  Clock::time_point arrival_;  ///< of the last frame
};

}  // namespace saccade::isolated
