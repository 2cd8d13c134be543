#pragma once

#include <functional>
#include <span>
#include <vector>

#include "measure/statistics/statistics.hpp"
#include "measure/statistics/units.hpp"

namespace saccade {

/// The overhead of the recorder, measured in alternating blocks of frames with and without it.
struct Overhead {
  Nanoseconds with{};       ///< per frame, the median of the recorded blocks
  Nanoseconds without{};    ///< per frame, the median of the others
  double share = 0;         ///< with / without - 1; noise may make it negative
  Interval interval;        ///< of the share, 95 %
  double events = 0;        ///< launches recorded per frame
  Nanoseconds per_event{};  ///< measured separately, by recording frames without work
  int blocks = 0;           ///< per kind

  /// events * per_event / without: the expected share, without the frames' own noise.
  double expected_share() const;
};

/// Computes the overhead from frame times by block; pairs of neighbours have equal indices. Throws Error without
/// blocks.
Overhead overhead_of(std::span<const Nanoseconds> with, std::span<const Nanoseconds> without, double events,
                     Nanoseconds per_event);

/// Runs BLOCK(recorded) alternately and returns the time per frame of each block; at least MIN_PAIRS pairs, more within
/// BUDGET.
struct BlockTimes {
  std::vector<Nanoseconds> with;
  std::vector<Nanoseconds> without;
};
BlockTimes run_in_turns(const std::function<Nanoseconds(bool recorded)>& block, std::chrono::nanoseconds budget,
                        int min_pairs);

}  // namespace saccade
