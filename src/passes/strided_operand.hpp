#pragma once

#include <optional>

#include "graph/graph.hpp"
#include "ops/layers/access_pattern.hpp"

namespace saccade {

/// An operand of a node: the elements of a value in an access pattern, times a scalar.
struct StridedOperand {
  ValueId value = ValueId::kNone;
  AccessPattern pattern;
  double scale = 1;
};

/// The same elements as an access pattern of the producer's input, if the producer moves, slices or scales elements;
/// nullopt otherwise, or if the result is not an access pattern.
std::optional<StridedOperand> trace_back(const Graph& graph, const StridedOperand& operand);

/// The same elements as an access pattern of the output of the value's only reader, if that only moves them.
std::optional<StridedOperand> trace_forward(const Graph& graph, const StridedOperand& operand);

/// The strides of a value of SHAPE broadcast to RANK dimensions.
Shape broadcast_steps(const Shape& shape, int rank);

}  // namespace saccade
