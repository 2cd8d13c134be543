#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "measure/peers/contender.hpp"
#include "saccade/error.hpp"

namespace saccade {

struct InterleaveOptions {
  int runs = 300;      ///< per contender, at least
  double seconds = 3;  ///< measured time per contender, at least
  int blocks = 30;     ///< per contender, at least
  std::uint64_t seed = 0;
};

/// The measurements of one contender.
struct Series {
  std::vector<Block> blocks;     ///< block i of all series is from the same round
  int warm_up = 0;               ///< runs before the first block
  int unmeasured = 0;            ///< warm-up runs at the start of each block
  std::optional<Error> failure;  ///< why it stopped early

  std::vector<std::chrono::nanoseconds> latencies() const;
  /// Medians of all blocks, in milliseconds.
  std::vector<double> medians_ms() const;
  /// Runs per second of measured time.
  double throughput() const;
};

/// The blocks of all LOADS of one contender, concatenated.
Series joined(std::span<const Series> loads);

/// Warms the contenders up and measures them in rounds: a block of each, in a new random order per round. A contender
/// that throws Error is dropped; the others continue. PROGRESS receives the completed share.
std::vector<Series> interleave(std::span<Contender* const> contenders, const InterleaveOptions& options,
                               const std::function<void(double share)>& progress = {});

/// Sleeps until this process uses hardly any processor time: the workers of a thread pool spin for some milliseconds
/// after a run before they sleep. Returns after half a second in any case.
void wait_until_idle();

}  // namespace saccade
