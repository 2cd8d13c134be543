#include "media/network/stream_clock.hpp"

#include <algorithm>

namespace saccade::network {

std::int64_t StreamClock::stamp(std::optional<std::int64_t> presented, Clock::time_point arrival) noexcept {
  constexpr auto kJump = static_cast<std::uint64_t>(10'000'000'000);
  if (!has_begun_) first_ = arrival;
  if (presented && is_anchored_) {
    // Unsigned: timestamps of a damaged stream may be any number.
    const std::uint64_t time = static_cast<std::uint64_t>(*presented) + offset_;
    if (const std::uint64_t step = time - static_cast<std::uint64_t>(last_); step > 0 && step <= kJump)
      return last_ = static_cast<std::int64_t>(time);
  }
  const std::int64_t passed = std::chrono::nanoseconds(arrival - first_).count();
  last_ = has_begun_ ? std::max(last_ + 1, passed) : 0;
  has_begun_ = true;
  is_anchored_ = presented.has_value();
  if (presented) offset_ = static_cast<std::uint64_t>(last_) - static_cast<std::uint64_t>(*presented);
  return last_;
}

SenderStamp check_sender(std::optional<std::chrono::system_clock::time_point> sent, const Arrival& arrival) noexcept {
  constexpr std::chrono::minutes kOldest{1};
  if (!sent) return {.captured_at = arrival.wall};
  const auto age = arrival.wall - *sent;
  if (age < age.zero() || age > kOldest) return {.captured_at = arrival.wall, .is_replaced = true};
  return {.captured_at = *sent, .exposed = arrival.steady - std::chrono::duration_cast<Clock::duration>(age)};
}

}  // namespace saccade::network
