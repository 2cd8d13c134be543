#pragma once

#include "graph/graph.hpp"

namespace saccade {

/// About how many multiplications, comparisons or copies the node's reference kernel makes, at most; its inputs' and
/// outputs' types are known. What bounds the time that working a value out may take.
double steps_of(const Graph& graph, const Node& node);

}  // namespace saccade
