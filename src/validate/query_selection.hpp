#pragma once

#include "graph/graph.hpp"

namespace saccade {

/// Whether the model computes further with what a TopK selects, as a DETR does with the queries that its encoder ranks
/// first. Rounding then exchanges whole queries, not only the last bits of a box.
bool selects_queries(const Graph& graph);

}  // namespace saccade
