#include <algorithm>

#include "passes/core/match.hpp"

// Removes unused nodes of the model. Patches remove nodes that become unused themselves.
namespace saccade {

std::optional<Patch> eliminate_dead_code(const PassContext& context, NodeId id) {
  const Graph& graph = context.graph;
  const Node& node = graph.node(id);
  const bool read = std::ranges::any_of(node.outputs, [&](ValueId output) {
    return output != ValueId::kNone && (graph.is_output(output) || !graph.users(output).empty());
  });
  if (read) return {};
  Patch patch(graph, fmt::format("{} ({})", node.name, node.op));
  patch.drop(id);
  return patch;
}

}  // namespace saccade
