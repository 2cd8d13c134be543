#include <algorithm>

#include "passes/core/match.hpp"
#include "tensor/view.hpp"

// Evaluates nodes of constants, and nodes that depend on the shapes of their inputs only.
namespace saccade {
namespace {

/// A larger result must not exceed its inputs by much; otherwise a plan would contain, for example, an Expand's copies.
constexpr std::size_t kFreeBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxGrowth = 8;

std::size_t bytes_of(const Graph& graph, std::span<const ValueId> ids) {
  std::size_t bytes = 0;
  for (ValueId id : ids)
    if (id != ValueId::kNone) bytes += saccade::bytes_of(graph.value(id).type.dtype, graph.value(id).type.shape);
  return bytes;
}

bool sees_constants_only(const Graph& graph, const Node& node) {
  if (traits_of(node).reads == Reads::kShape) return true;
  return std::ranges::all_of(
      node.inputs, [&](ValueId input) { return input == ValueId::kNone || graph.constant(input) != nullptr; });
}

}  // namespace

std::optional<Patch> fold_constants(const PassContext& context, NodeId id) {
  const Graph& graph = context.graph;
  const Node& node = graph.node(id);
  if (traits_of(node).random || !sees_constants_only(graph, node)) return {};
  const std::size_t bytes = bytes_of(graph, node.outputs);
  if (bytes > kFreeBytes && bytes / kMaxGrowth > bytes_of(graph, node.inputs)) return {};
  Patch patch(graph, fmt::format("{} ({})", node.name, node.op));
  bool read = false;
  for (ValueId output : node.outputs) {
    if (output == ValueId::kNone || (graph.users(output).empty() && !graph.is_output(output))) continue;
    const Tensor* tensor = context.known.get(output);
    if (tensor == nullptr) return {};
    patch.replace(output, patch.add_constant(graph.value(output).name, *tensor));
    read = true;
  }
  if (!read) return {};
  return patch;
}

}  // namespace saccade
