#pragma once

#include <map>
#include <optional>

#include "ops/interpreter/infer.hpp"

namespace saccade {

/// Numbers from LEAST to MOST; either may be infinite.
struct Interval {
  double least;
  double most;
};

/// Between which numbers all elements of a value lie (where it is filled, and NaN apart), whatever its size is: what
/// Clip, Min and Max cut off, and what is worked out from it by interval arithmetic (Moore, "Interval Analysis"). The
/// data may be NaN, so an interval is for what the run checks again: how much room something takes.
class Intervals {
 public:
  /// FIXED knows what follows from constants and shapes alone. Both outlive this.
  Intervals(const Graph& graph, KnownValues& fixed) : graph_(graph), fixed_(fixed) {}

  /// Learns of the outputs of NODE, whose types are set.
  void learn(const Node& node);
  /// None where neither end is known.
  std::optional<Interval> get(ValueId id) const;

 private:
  /// As learnt, or of a small constant's contents; from minus to plus infinity where nothing is known.
  Interval of(ValueId id) const;

  const Graph& graph_;
  KnownValues& fixed_;
  std::map<ValueId, Interval> intervals_;
};

}  // namespace saccade
