#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <random>

#include "base/clock.hpp"

namespace saccade::network {

/// How long opening a stream takes.
struct OpeningTimes {
  std::chrono::nanoseconds response{};  ///< of the server
  std::chrono::nanoseconds video{};     ///< until it comes, beyond what is inspected of it
  std::chrono::nanoseconds silence{};   ///< the longest between two packets (RTSP within TCP)
};

/// When a stream that is away is opened again: every 0.8 s for a minute, then every ten seconds, give or take a tenth,
/// so that the streams of a server that was restarted do not all come at the same time. With a key frame a second, a
/// stream is then back within two seconds of its server. One thread.
class RetrySchedule {
 public:
  static constexpr std::chrono::seconds kEager{60};
  static constexpr std::chrono::milliseconds kSoon{800};
  static constexpr std::chrono::milliseconds kLate{10'000};
  /// Less than kSoon: the attempt after it comes before TCP would repeat a packet that opens a connection (1 s).
  static constexpr std::chrono::nanoseconds kShortestResponse = std::chrono::milliseconds(700);
  static constexpr std::chrono::nanoseconds kShortestVideo = std::chrono::milliseconds(500);
  static constexpr std::chrono::nanoseconds kShortestSilence = std::chrono::milliseconds(300);

  explicit RetrySchedule(std::uint32_t seed) : random_(seed) {}

  /// Video has arrived at NOW: the next outage begins then.
  void arrive(Clock::time_point now) {
    arrived_ = now;
    missed_ = 0;
  }
  /// It is opened at NOW.
  void attempt(Clock::time_point now) { wait(now, now - arrived_ < kEager ? kSoon : kLate); }
  /// The server has refused the login at NOW: many cameras lock an account after a few attempts.
  void refuse(Clock::time_point now) { wait(now, kLate); }
  /// The last attempt has ended because nothing came in time.
  void miss() { ++missed_; }
  /// The last attempt has ended for another reason, such as damage: nothing speaks for a slow server.
  void fail() { missed_ = 0; }
  /// How long the attempt may wait: a session that was damaged never gets a response, and must not keep the stream
  /// away. After three misses in a row it waits for the whole TIMEOUT, in case that the server has become slower.
  /// USUAL is how long opening took before.
  OpeningTimes patience(std::chrono::nanoseconds timeout, const OpeningTimes& usual) const {
    if (missed_ % 4 == 3) return all(timeout);
    return {.response = std::min(timeout, std::max(kShortestResponse, 3 * usual.response)),
            .video = std::min(timeout, std::max(kShortestVideo, 3 * usual.video)),
            .silence = std::min(timeout, std::max(kShortestSilence, 3 * usual.silence))};
  }
  /// TIMEOUT for each part.
  static OpeningTimes all(std::chrono::nanoseconds timeout) { return {timeout, timeout, timeout}; }
  /// When it may be opened again. Attempts are counted from their beginnings: one that has taken longer is followed by
  /// the next.
  Clock::time_point next() const { return next_; }

 private:
  void wait(Clock::time_point now, std::chrono::duration<double> period) {
    std::uniform_real_distribution<double> jitter(0.9, 1.1);
    next_ = now + std::chrono::duration_cast<Clock::duration>(jitter(random_) * period);
  }

  std::minstd_rand random_;
  int missed_ = 0;  ///< attempts in a row
  Clock::time_point arrived_ = Clock::now();
  Clock::time_point next_ = Clock::time_point::min();
};

}  // namespace saccade::network
