#include <cmath>

#include "passes/core/match.hpp"

// x * HardSigmoid(x) with alpha 1/6 and beta 1/2 is HardSwish.
namespace saccade {

std::optional<Patch> fuse_hard_swish(const PassContext& context, NodeId id) {
  const Graph& graph = context.graph;
  const Node& product = graph.node(id);
  if (!product.is("Mul") || !is_plain(product) || !is_float32(graph, output_of(product))) return {};
  for (std::size_t i = 0; i < 2; ++i) {
    const ValueId x = product.inputs[i];
    const Node* gate = graph.producer(product.inputs[1 - i]);
    if (gate == nullptr || !gate->is("HardSigmoid") || !is_plain(*gate) || gate->inputs[0] != x) continue;
    if (std::abs(gate->attributes.real("alpha", 0.2F) - 1.0F / 6) > 1e-6F) continue;
    if (gate->attributes.real("beta", 0.5F) != 0.5F) continue;
    Patch patch(graph, fmt::format("{} and {}", gate->name, product.name));
    Node swish{.op = "HardSwish", .name = product.name, .inputs = {x}, .stage = product.stage};
    patch.replace(output_of(product),
                  patch.add_node_with_output(std::move(swish), {}, graph.value(output_of(product)).layout));
    return patch;
  }
  return {};
}

}  // namespace saccade
