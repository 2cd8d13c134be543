#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/memory_budget.hpp"
#include "graph/graph.hpp"
#include "runtime/tensor_blob.hpp"

namespace saccade {

/// A graph as JSON, with its constants in BLOB. Ids become dense; nodes are in Graph::order().
nlohmann::json to_json(const Graph& graph, TensorBlob& blob);

/// The inverse of to_json(). Throws Error (kInvalidFile) on anything that to_json() would not write. Output types are
/// inferred, not trusted; constants that this computes are charged to BUDGET.
Graph graph_from_json(const nlohmann::json& json, StoredTensors& stored, MemoryBudget& budget);

}  // namespace saccade
