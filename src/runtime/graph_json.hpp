#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/memory_budget.hpp"
#include "graph/graph.hpp"

namespace saccade {

/// Writes tensors one after the other, each on a 64-byte boundary, and tells where each went.
class TensorBlob {
 public:
  /// {"dtype", "shape", "offset"}; throws Error (kUnsupported) for strings.
  nlohmann::json add(const Tensor& tensor);
  /// Where BYTES begin.
  std::size_t add(std::string_view bytes);
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// A graph as JSON, its constants in BLOB. Ids are made dense; nodes stand in Graph::order().
nlohmann::json to_json(const Graph& graph, TensorBlob& blob);

/// The same graph again. Throws Error (kInvalidFile) on anything that to_json() would not write; types of nodes'
/// outputs are inferred, not believed, and what is worked out for them counts against BUDGET.
Graph graph_from_json(const nlohmann::json& json, std::string_view blob, MemoryBudget& budget);

}  // namespace saccade
