#pragma once

#include "graph/graph.hpp"

namespace saccade {

/// Checks that a graph is legal: every value that is read is an input, a constant or made by exactly one live node
/// before its readers; links from values to producers and readers agree with the nodes; constants match their types;
/// post-ops fit their output; memory layouts are possible; inputs and outputs have names of their own.
/// Throws Error (kInternal) naming the node or value.
void verify(const Graph& graph);

}  // namespace saccade
