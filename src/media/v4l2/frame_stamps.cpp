#include "media/v4l2/frame_stamps.hpp"

namespace saccade::v4l2 {
namespace {

// Older frames are those of a clock that has jumped back, or that counts from the start of the stream.
constexpr std::int64_t kOldestNs = 60'000'000'000;

}  // namespace

// std::chrono::steady_clock is CLOCK_MONOTONIC, on which drivers stamp frames.
FrameStamp SensorClock::check(std::int64_t stamp_ns, bool is_monotonic, Clock::time_point arrival) noexcept {
  const std::int64_t arrival_ns =
      std::chrono::duration_cast<std::chrono::nanoseconds>(arrival.time_since_epoch()).count();
  if (!is_monotonic || stamp_ns == 0) return {.timestamp_ns = arrival_ns};
  const bool is_ahead = stamp_ns > arrival_ns;
  const bool is_back = has_last_ && stamp_ns < last_ns_;
  const bool is_old = stamp_ns < arrival_ns - kOldestNs;
  // The next frame is compared with this one, so that a clock that has jumped back a little is wrong once. A time ahead
  // of the arrival is compared with nothing: its successors would all be before it.
  if (!is_ahead) {
    last_ns_ = stamp_ns;
    has_last_ = true;
  }
  const bool is_replaced = is_ahead || is_back || is_old;
  const std::int64_t used = is_replaced ? arrival_ns : stamp_ns;
  return {.timestamp_ns = used,
          .exposed = Clock::time_point(std::chrono::duration_cast<Clock::duration>(std::chrono::nanoseconds(used))),
          .is_replaced = is_replaced};
}

}  // namespace saccade::v4l2
