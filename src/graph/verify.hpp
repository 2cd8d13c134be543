#pragma once

#include "graph/graph.hpp"

namespace saccade {

/// Checks the invariants of a graph: every value that is read is an input, a constant or produced by exactly one live
/// node; nodes are acyclic; the indices of producers and readers agree with the nodes; constants match their types;
/// post-ops fit their output; memory layouts are possible; inputs and outputs have distinct names. Throws Error
/// (kInternal) naming the node or value.
void verify(const Graph& graph);

}  // namespace saccade
