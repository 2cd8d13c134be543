#include "validate/query_selection.hpp"

#include <algorithm>
#include <set>

namespace saccade {

bool selects_queries(const Graph& graph) {
  std::set<ValueId> selected;  // and what is computed from it
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    const bool is_selection = node.is("TopK");
    if (!is_selection && std::ranges::none_of(node.inputs, [&](ValueId input) { return selected.contains(input); }))
      continue;
    if (node.is("MatMul") || node.is("Gemm") || node.is("Conv")) return true;
    selected.insert(node.outputs.begin(), node.outputs.end());
  }
  return false;
}

}  // namespace saccade
