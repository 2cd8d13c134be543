#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "measure/peers/contender.hpp"
#include "saccade/error.hpp"

namespace saccade {

struct InterleaveOptions {
  int runs = 300;      ///< of each contender, at least
  double seconds = 3;  ///< of each contender's measured time, at least
  int blocks = 30;     ///< into which they are split, at least
  std::uint64_t seed = 0;
};

/// What one contender measured.
struct Series {
  std::vector<Block> blocks;     ///< block i of all series was taken in the same round
  int warm_up = 0;               ///< runs before the first block
  int unmeasured = 0;            ///< runs at the start of each block that are not in it
  std::optional<Error> failure;  ///< why it stopped before its time

  std::vector<std::chrono::nanoseconds> latencies() const;
  /// Of every block, in milliseconds.
  std::vector<double> medians_ms() const;
  /// Runs a second while it was measured.
  double throughput() const;
};

/// The blocks of all LOADS of one contender, one after the other.
Series joined(std::span<const Series> loads);

/// Warms the contenders up and measures them, in rounds: a block of each, in an order that is drawn again for every
/// round. A contender that throws Error leaves the rounds; the others go on. PROGRESS gets the share that is done.
std::vector<Series> interleave(std::span<Contender* const> contenders, const InterleaveOptions& options,
                               const std::function<void(double share)>& progress = {});

/// Sleeps until this process uses no processor time to speak of: the workers of a thread pool spin for some
/// milliseconds after a run before they sleep. Returns after half a second in any case.
void wait_until_quiet();

}  // namespace saccade
