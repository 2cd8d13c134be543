#include "passes/core/match.hpp"

// Fuses x * Sigmoid(x) to Silu.
namespace saccade {

std::optional<Patch> fuse_silu(const PassContext& context, NodeId id) {
  const Graph& graph = context.graph;
  const Node& product = graph.node(id);
  if (!product.is("Mul") || !is_plain(product) || !is_float32(graph, output_of(product))) return {};
  for (std::size_t i = 0; i < 2; ++i) {
    const ValueId x = product.inputs[i];
    const Node* sigmoid = graph.producer(product.inputs[1 - i]);
    if (sigmoid == nullptr || !sigmoid->is("Sigmoid") || !is_plain(*sigmoid) || sigmoid->inputs[0] != x) continue;
    Patch patch(graph, fmt::format("{} and {}", sigmoid->name, product.name));
    Node silu{.domain = "saccade", .op = "Silu", .name = product.name, .inputs = {x}, .stage = product.stage};
    patch.replace(output_of(product),
                  patch.add_node_with_output(std::move(silu), {}, graph.value(output_of(product)).layout));
    return patch;
  }
  return {};
}

}  // namespace saccade
