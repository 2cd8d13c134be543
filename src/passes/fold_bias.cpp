#include "passes/channel_affine.hpp"

// Folds a per-channel constant that is added to the output of Conv, ConvTranspose, Gemm or MatMul into the bias, and
// one that is multiplied into the weights.
namespace saccade {
namespace {

std::optional<Patch> fold_behind(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (node.inputs.size() != 2) return {};
  for (std::size_t i = 0; i < 2; ++i) {
    const Node* linear = producer_for(graph, node.inputs[i], id);
    if (linear == nullptr || !is_linear(graph, *linear)) continue;
    const auto affine = as_affine(graph, node, i, channel_axis(graph, *linear));
    if (!affine) continue;
    Patch patch(graph, fmt::format("{} into {}", node.name, linear->name));
    const auto folded = fold_into(patch, graph, *linear, *affine);
    if (!folded) continue;
    patch.replace(output_of(node), *folded);
    return patch;
  }
  return {};
}

}  // namespace

std::optional<Patch> fold_bias(const PassContext& context, NodeId id) {
  const Node& node = context.graph.node(id);
  if (!node.is("Add") && !node.is("Sub")) return {};
  return fold_behind(context.graph, id);
}

std::optional<Patch> fold_scale(const PassContext& context, NodeId id) {
  const Node& node = context.graph.node(id);
  if (!node.is("Mul") && !node.is("Div")) return {};
  return fold_behind(context.graph, id);
}

}  // namespace saccade
