#pragma once

#include <functional>
#include <span>
#include <vector>

#include "measure/statistics/statistics.hpp"
#include "measure/statistics/units.hpp"

namespace saccade {

/// What watching costs the watched, measured in turns: blocks of frames with the recorder and without it.
struct Overhead {
  Nanoseconds with{};       ///< a frame, the median of the blocks that were recorded
  Nanoseconds without{};    ///< a frame, the median of the others
  double share = 0;         ///< with / without - 1; noise may make it negative
  Interval interval;        ///< of the share, 95 %
  double events = 0;        ///< launches recorded a frame
  Nanoseconds per_event{};  ///< measured by itself: recording frames that do nothing
  int blocks = 0;           ///< of each kind

  /// events * per_event / without: what the share should be, free of the frames' own noise.
  double expected_share() const;
};

/// The arithmetic: times of a frame by block, pairs of neighbours at the same place. Throws Error where there is none.
Overhead overhead_of(std::span<const Nanoseconds> with, std::span<const Nanoseconds> without, double events,
                     Nanoseconds per_event);

/// Runs BLOCK(recorded) in turns and gives the time of a frame in each block; at least MIN_PAIRS pairs, more while
/// BUDGET lasts.
struct BlockTimes {
  std::vector<Nanoseconds> with;
  std::vector<Nanoseconds> without;
};
BlockTimes run_in_turns(const std::function<Nanoseconds(bool recorded)>& block, std::chrono::nanoseconds budget,
                        int min_pairs);

}  // namespace saccade
