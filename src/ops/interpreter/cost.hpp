#pragma once

#include "graph/graph.hpp"

namespace saccade {

/// An upper estimate of the multiplications, comparisons or copies of the node's reference kernel; its types are known.
/// It bounds the time that computing a value may take.
double steps_of(const Graph& graph, const Node& node);

}  // namespace saccade
