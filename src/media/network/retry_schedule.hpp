#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <random>

#include "base/clock.hpp"

namespace saccade::network {

/// When a stream that is away is opened again: each second for a minute, then every ten seconds, give or take a tenth,
/// so that the streams of a server that was restarted do not all come at the same time. One thread.
class RetrySchedule {
 public:
  static constexpr std::chrono::seconds kEager{60};
  static constexpr std::chrono::seconds kSoon{1};
  static constexpr std::chrono::seconds kLate{10};

  explicit RetrySchedule(std::uint32_t seed) : random_(seed) {}

  /// Video has arrived at NOW: the next outage begins then.
  void arrive(Clock::time_point now) {
    arrived_ = now;
    attempts_ = 0;
  }
  /// It is opened at NOW.
  void attempt(Clock::time_point now) {
    const std::chrono::duration<double> period = now - arrived_ < kEager ? kSoon : kLate;
    std::uniform_real_distribution<double> jitter(0.9, 1.1);
    next_ = now + std::chrono::duration_cast<Clock::duration>(jitter(random_) * period);
  }
  /// How long the attempt may wait for a response: a session that was damaged never gets one, and must not keep the
  /// stream away. Every fourth attempt waits for the whole TIMEOUT, in case that the server has become slower. USUAL is
  /// how long opening took before.
  std::chrono::nanoseconds patience(std::chrono::nanoseconds timeout, std::chrono::nanoseconds usual) {
    constexpr std::chrono::nanoseconds kShortest = std::chrono::milliseconds(1500);
    return ++attempts_ % 4 == 0 ? timeout : std::min(timeout, std::max(kShortest, 3 * usual));
  }
  /// When it may be opened again. Attempts are counted from their beginnings: one that has taken longer is followed by
  /// the next.
  Clock::time_point next() const { return next_; }

 private:
  std::minstd_rand random_;
  int attempts_ = 0;
  Clock::time_point arrived_ = Clock::now();
  Clock::time_point next_ = Clock::time_point::min();
};

}  // namespace saccade::network
