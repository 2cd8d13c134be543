#include <algorithm>

#include "passes/core/match.hpp"

// Merges consecutive views (Reshape, Flatten, Squeeze, Unsqueeze, and a Transpose that only moves dimensions of size 1)
// into one Reshape.
namespace saccade {
namespace {

/// Whether the node only changes the shape, so that a Reshape can replace it.
bool renames_value(const Graph& graph, const Node& node) {
  return node.domain.empty() && is_view(node) &&
         graph.value(node.inputs[0]).layout == graph.value(output_of(node)).layout;
}

/// Whether dimensions of more than one element keep their order.
bool moves_nothing(const Graph& graph, const Node& transpose) {
  if (!transpose.is("Transpose") || !is_plain(transpose)) return false;
  const Shape& shape = graph.value(transpose.inputs[0]).type.shape;
  std::int64_t last = -1;
  for (std::int64_t axis : transpose.attributes.integers("perm")) {
    if (shape[static_cast<int>(axis)] == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  return last >= 0 && graph.value(transpose.inputs[0]).layout == Layout::kRowMajor;
}

Patch reshape(const Graph& graph, const Node& node, ValueId from, std::string note) {
  Patch patch(graph, std::move(note));
  const Value& to = graph.value(output_of(node));
  Tensor target(DType::kInt64, {to.type.shape.rank()});
  std::ranges::copy(to.type.shape, target.data<std::int64_t>().begin());
  Node merged{.op = "Reshape", .name = node.name, .stage = node.stage};
  merged.inputs = {from, patch.add_constant(node.name + ".shape", std::move(target))};
  // With allowzero, a 0 in the target is an empty dimension.
  merged.attributes.set("allowzero", std::int64_t{1});
  patch.replace(output_of(node), patch.add_node_with_output(std::move(merged), {}, to.layout));
  return patch;
}

}  // namespace

std::optional<Patch> merge_reshapes(const PassContext& context, NodeId id) {
  const Graph& graph = context.graph;
  const Node& node = graph.node(id);
  if (moves_nothing(graph, node))
    return reshape(graph, node, node.inputs[0], fmt::format("{} moves nothing", node.name));
  if (!renames_value(graph, node)) return {};
  const Node* first = graph.producer(node.inputs[0]);
  if (first == nullptr || !renames_value(graph, *first)) return {};
  return reshape(graph, node, first->inputs[0], fmt::format("{} and {}", first->name, node.name));
}

}  // namespace saccade
