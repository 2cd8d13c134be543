#pragma once

#include <map>
#include <optional>

#include "ops/interpreter/infer.hpp"

namespace saccade {

/// The least and the most that each element of a value can be; equal where it is known, but for what is OF DATA.
struct Range {
  Tensor least;
  Tensor most;
  Tensor
      counts;  ///< of int64 values: by element the ValueId of the count that it is, -1 where it is none; may be empty
  bool of_data = false;  ///< from an Interval: for rooms, which the run checks, and nothing else
};

/// Ranges of sizes that only the run knows, and of what is worked out from them: how much room what depends on them
/// takes at most follows from these.
class Ranges {
 public:
  /// Of a value; far more than a shape has.
  static constexpr std::int64_t kMaxElements = 1024;

  /// FIXED knows what follows from constants and shapes alone. All outlive this.
  Ranges(const Graph& graph, KnownValues& known, KnownValues& fixed) : graph_(graph), known_(known), fixed_(fixed) {}

  void set(ValueId id, Range range) { ranges_.insert_or_assign(id, std::move(range)); }
  /// Null where nothing is known.
  const Range* get(ValueId id) const;
  /// The range of the only output of NODE, whose type is set, where it follows from the inputs' ranges.
  std::optional<Range> behind(const Node& node) const;

 private:
  Tensor counts_beside(const Node& node, std::int64_t neutral) const;
  Tensor counts_behind(const Node& node, bool first_alone) const;
  /// An input's greatest (AT_MOST) or least elements, else what KNOWN says that it is; empty where neither is known.
  Tensor end_of(ValueId id, bool at_most, KnownValues& known) const;

  const Graph& graph_;
  KnownValues& known_;
  KnownValues& fixed_;
  std::map<ValueId, Range> ranges_;
};

}  // namespace saccade
