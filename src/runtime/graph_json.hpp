#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/memory_budget.hpp"
#include "graph/graph.hpp"

namespace saccade {

/// Concatenates tensors, each aligned to 64 bytes.
class TensorBlob {
 public:
  /// {"dtype", "shape", "offset"}; throws Error (kUnsupported) for strings.
  nlohmann::json add(const Tensor& tensor);
  /// Returns the offset of BYTES.
  std::size_t add(std::string_view bytes);
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// A graph as JSON, with its constants in BLOB. Ids become dense; nodes are in Graph::order().
nlohmann::json to_json(const Graph& graph, TensorBlob& blob);

/// The inverse of to_json(). Throws Error (kInvalidFile) on anything that to_json() would not write. Output types are
/// inferred, not trusted; constants that this computes are charged to BUDGET.
Graph graph_from_json(const nlohmann::json& json, std::string_view blob, MemoryBudget& budget);

}  // namespace saccade
