#pragma once

#include <map>
#include <optional>

#include "ops/interpreter/infer.hpp"

namespace saccade {

/// The least and the greatest value of each element; equal if it is known, unless OF_DATA.
struct Range {
  Tensor least;
  Tensor most;
  Tensor counts;  ///< of int64 values: by element the ValueId of the count that it equals, -1 if none; may be empty
  bool of_data = false;  ///< from a ClosedInterval: only for capacities, which are checked at run time
};

/// Ranges of sizes that are known only at run time, and of values computed from them. Capacities are derived from
/// these.
class Ranges {
 public:
  /// Limit of elements per value; far more than a shape has.
  static constexpr std::int64_t kMaxElements = 1024;

  /// FIXED evaluates constants and shapes alone. Borrows all arguments.
  Ranges(const Graph& graph, KnownValues& known, KnownValues& fixed) : graph_(graph), known_(known), fixed_(fixed) {}

  void set(ValueId id, Range range) { ranges_.insert_or_assign(id, std::move(range)); }
  /// Null if nothing is known.
  const Range* get(ValueId id) const;
  /// The range of the only output of NODE, whose type is set, if it follows from the inputs' ranges.
  std::optional<Range> behind(const Node& node) const;

 private:
  Tensor counts_beside(const Node& node, std::int64_t neutral) const;
  Tensor counts_behind(const Node& node, bool first_alone) const;
  /// An input's greatest (AT_MOST) or least elements, else its contents according to KNOWN; empty if neither is known.
  Tensor end_of(ValueId id, bool at_most, KnownValues& known) const;

  const Graph& graph_;
  KnownValues& known_;
  KnownValues& fixed_;
  std::map<ValueId, Range> ranges_;
};

}  // namespace saccade
