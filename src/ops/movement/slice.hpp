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

/// What a Slice takes of a tensor of SHAPE, one range a dimension; AXES and STEPS may be empty (all axes from the first
/// on, steps of 1). Throws Error (kInvalidFile) where the lists do not fit together.
SliceRanges slice_ranges(const Shape& shape, const Indices& starts, const Indices& ends, const Indices& axes,
                         const Indices& steps);
/// What a Slice takes by its constants; nothing where one of its lists is none.
std::optional<SliceRanges> slice_ranges(const Graph& graph, const Node& node);

}  // namespace saccade
