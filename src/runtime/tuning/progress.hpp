#pragma once

#include <cstddef>

#include "runtime/tuning/tuner.hpp"

namespace saccade {

/// Counts checks and timings of candidates and reports the share that is done. One thread.
class ProgressCounter {
 public:
  explicit ProgressCounter(const TuneOptions& options) : options_(options) {}

  /// The expected total becomes what is done and REMAINING.
  void expect(std::size_t remaining) { total_ = done_ + remaining; }
  void advance(std::size_t count) { done_ += count; }
  /// Reports COUNT further units, which advance() has yet to add.
  void report(std::size_t count = 0) const;

 private:
  const TuneOptions& options_;
  Clock::time_point start_ = Clock::now();
  std::size_t done_ = 0;
  std::size_t total_ = 0;
};

}  // namespace saccade
