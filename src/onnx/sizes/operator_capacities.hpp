#pragma once

#include <vector>

#include "onnx/sizes/capacities.hpp"

namespace saccade {

/// The capacities of a node's outputs. Throws Error.
using CapacityRule = std::vector<Capacity>(const SizeQuery&);

/// The rule of an operator whose shape rule is not monotonic, or whose sizes depend on all of an input's contents; null
/// for others (shape_bounds.hpp).
CapacityRule* capacity_rule_of(const Node& node);

}  // namespace saccade
