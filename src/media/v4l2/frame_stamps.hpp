#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.hpp"

namespace saccade::v4l2 {

/// Continues a driver's 32-bit numbers of frames in 64 bits. One thread.
class SequenceCounter {
 public:
  /// The number of a frame with the driver's NUMBER. A number that does not increase is that of a driver that does not
  /// count, or has begun again: it counts as the next.
  std::int64_t next(std::uint32_t number) noexcept {
    constexpr std::uint32_t kBackwards = std::uint32_t{1} << 31;
    std::uint32_t step = number - last_;
    if (!has_last_ || step == 0 || step >= kBackwards) step = 1;
    last_ = number;
    has_last_ = true;
    return count_ += step;
  }
  /// After the stream was started again: the driver's next number, whatever it is, follows the last frame.
  void restart() noexcept { has_last_ = false; }

 private:
  std::uint32_t last_ = 0;
  bool has_last_ = false;
  std::int64_t count_ = -1;
};

/// The times of a frame.
struct FrameStamp {
  std::int64_t timestamp_ns = 0;             ///< of the sensor's clock, or of its arrival
  std::optional<Clock::time_point> exposed;  ///< nothing: the driver has another clock
  bool is_replaced = false;                  ///< the sensor's time was wrong: it is that of the arrival
};

/// Checks the times of a camera's clock. One thread.
class SensorClock {
 public:
  /// STAMP, in nanoseconds of CLOCK_MONOTONIC where IS_MONOTONIC, of a frame that arrived at ARRIVAL. One that lies
  /// ahead of it, more than a minute before it, or before the last frame's, is replaced. 0 is that of a driver that
  /// sets none.
  FrameStamp check(std::int64_t stamp_ns, bool is_monotonic, Clock::time_point arrival) noexcept;
  /// After the stream was started again.
  void restart() noexcept { has_last_ = false; }

 private:
  std::int64_t last_ns_ = 0;
  bool has_last_ = false;
};

}  // namespace saccade::v4l2
