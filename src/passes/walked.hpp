#pragma once

#include <optional>

#include "graph/graph.hpp"
#include "ops/layers/walk.hpp"

namespace saccade {

/// An operand of a node: the elements of a value in an access pattern, times a scalar.
struct Walked {
  ValueId value = ValueId::kNone;
  Walk walk;
  double scale = 1;
};

/// The same elements as an access pattern of the producer's input, if the producer moves, slices or scales elements;
/// nullopt otherwise, or if the result is not an access pattern.
std::optional<Walked> walk_back(const Graph& graph, const Walked& walked);

/// The same elements as an access pattern of the output of the value's only reader, if that only moves them.
std::optional<Walked> walk_on(const Graph& graph, const Walked& walked);

/// The strides of a value of SHAPE broadcast to RANK dimensions.
Shape broadcast_steps(const Shape& shape, int rank);

}  // namespace saccade
