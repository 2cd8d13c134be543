#pragma once

#include "base/clock.hpp"

namespace saccade {

/// How long before its time a frame is read from a file: late, so that decoding rarely takes a processor from the
/// models, which still work on the frame before, and the frame is in the cache; early enough to be decoded in time. One
/// thread.
class ReadLead {
 public:
  /// Reads that are remembered at least, and at most twice as many.
  static constexpr int kReads = 16;

  /// PERIOD: between two frames.
  explicit ReadLead(Clock::duration period);

  /// A third of a period, and more than the slowest read that is remembered. A whole period until kReads were added.
  Clock::duration value() const { return value_; }
  /// A read took TIME from the moment at which it was to begin, so that a late wake-up is part of it.
  void add(Clock::duration time);
  /// A frame was decoded after its time, or may be: the next ones are read as early as they can be.
  void miss() { add(period_); }

 private:
  Clock::duration period_;
  Clock::duration value_;
  Clock::duration slowest_{};  ///< of the reads that are being counted
  Clock::duration before_{};   ///< the slowest of the kReads before
  int reads_ = 0;
};

}  // namespace saccade
