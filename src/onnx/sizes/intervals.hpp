#pragma once

#include <map>
#include <optional>

#include "ops/interpreter/infer.hpp"

namespace saccade {

/// Numbers from LEAST to MOST; either may be infinite.
struct ClosedInterval {
  double least;
  double most;
};

/// An interval that contains all valid elements of a value, NaN apart, whatever its size is: from Clip, Min and Max,
/// and from interval arithmetic on their results (Moore, "Interval Analysis"). Since the data may be NaN, an interval
/// may only determine what is checked again at run time: capacities.
class Intervals {
 public:
  /// FIXED evaluates constants and shapes alone. Borrows both.
  Intervals(const Graph& graph, KnownValues& fixed) : graph_(graph), fixed_(fixed) {}

  /// Infers the intervals of the outputs of NODE, whose types are set.
  void learn(const Node& node);
  /// Nothing if neither end is known.
  std::optional<ClosedInterval> get(ValueId id) const;

 private:
  /// As inferred, or of a small constant's contents; from minus to plus infinity if nothing is known.
  ClosedInterval of(ValueId id) const;

  const Graph& graph_;
  KnownValues& fixed_;
  std::map<ValueId, ClosedInterval> intervals_;
};

}  // namespace saccade
