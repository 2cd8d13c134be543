#pragma once

#include <array>
#include <optional>

#include "graph/graph.hpp"
#include "ops/core/values.hpp"

namespace saccade {

/// Elements START, START + STEP, ... of a dimension, COUNT of them.
struct SliceRange {
  std::int64_t start = 0;
  std::int64_t step = 1;
  std::int64_t count = 0;
};

using SliceRanges = std::array<SliceRange, Shape::kMaxRank>;

/// The ranges of a Slice on a tensor of SHAPE, one per dimension; AXES and STEPS may be empty (all axes from the first
/// on, steps of 1). Throws Error (kInvalidFile) if the lists do not fit together.
SliceRanges slice_ranges(const Shape& shape, const Indices& starts, const Indices& ends, const Indices& axes,
                         const Indices& steps);
/// The ranges of a Slice with constant lists; nothing if one of them is not constant.
std::optional<SliceRanges> slice_ranges(const Graph& graph, const Node& node);

}  // namespace saccade
