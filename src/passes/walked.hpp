#pragma once

#include <optional>

#include "graph/graph.hpp"
#include "ops/layers/walk.hpp"

namespace saccade {

/// What a node reads of an operand: elements of a value, as its loops walk through it, times a number.
struct Walked {
  ValueId value = ValueId::kNone;
  Walk walk;
  double scale = 1;
};

/// The same elements as a walk through what the value is made of, where its producer moves them, leaves some out or
/// multiplies them by one number. Nothing where it does anything else, or where that is no walk.
std::optional<Walked> walk_back(const Graph& graph, const Walked& walked);

/// The same elements where the value's only reader puts them, if all it does is move them.
std::optional<Walked> walk_on(const Graph& graph, const Walked& walked);

/// The steps through a value of SHAPE that is broadcast to RANK dimensions.
Shape broadcast_steps(const Shape& shape, int rank);

}  // namespace saccade
