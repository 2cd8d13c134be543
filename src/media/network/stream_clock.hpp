#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/clock.hpp"

namespace saccade::network {

/// Timestamps of a stream's frames, which increase whatever becomes of the stream: a connection's first frame has the
/// time that has passed since the stream's first one, and the others follow it by their presentation times. One thread.
class StreamClock {
 public:
  /// The timestamp in nanoseconds of a frame with the presentation time PRESENTED (nothing: unknown) that arrived at
  /// ARRIVAL.
  std::int64_t stamp(std::optional<std::int64_t> presented, Clock::time_point arrival) noexcept;
  /// The stream was opened again.
  void restart() noexcept { is_anchored_ = false; }

 private:
  bool has_begun_ = false;
  bool is_anchored_ = false;
  Clock::time_point first_;   ///< arrival
  std::uint64_t offset_ = 0;  ///< of presentation times; wraps
  std::int64_t last_ = 0;
};

/// When a frame was captured, by the clock of its sender.
struct SenderStamp {
  std::chrono::system_clock::time_point captured_at;  ///< of its arrival where the sender's is unknown or wrong
  std::optional<Clock::time_point> exposed;           ///< nothing: the sender's is unknown or wrong
  bool is_replaced = false;                           ///< it is wrong
};

/// A point in time by both clocks.
struct Arrival {
  Clock::time_point steady;
  std::chrono::system_clock::time_point wall;
};

/// A frame that its sender, says its clock, captured at SENT (nothing: it does not say so) and that arrived at ARRIVAL.
/// A time that lies after the arrival, or more than a minute before it, is that of a wrong clock.
SenderStamp check_sender(std::optional<std::chrono::system_clock::time_point> sent, const Arrival& arrival) noexcept;

}  // namespace saccade::network
