#include <algorithm>
#include <span>

#include "passes/core/match.hpp"

// Removes nodes whose output equals an input.
namespace saccade {
namespace {

bool all_ones(const Graph& graph, ValueId id) { return id == ValueId::kNone || is_filled_with(graph, id, 1); }

/// Variadic operators with a single operand return it.
bool combines(const OpTraits& traits) {
  return traits.is_variadic() && (traits.is_elementwise() || traits.movement != Movement::kNone);
}

bool transposes_nothing(const Node& node) {
  const auto perm = node.attributes.integers("perm");
  return !perm.empty() && std::ranges::is_sorted(perm);
}

/// Equal shapes are not sufficient: a slice may run backwards.
bool slices_nothing(const Graph& graph, const Node& node) {
  return node.inputs.size() < 5 || all_ones(graph, node.inputs[4]);
}

/// Equal shapes are not sufficient: pads may be negative.
bool pads_nothing(const Graph& graph, const Node& node) {
  return node.inputs.size() > 1 && is_filled_with(graph, node.inputs[1], 0);
}

bool clips_nothing(const Node& node) {
  return std::ranges::all_of(std::span(node.inputs).subspan(1), [](ValueId bound) { return bound == ValueId::kNone; });
}

/// The index of x in x + 0, x - 0, x * 1, x / 1, 0 + x and 1 * x.
std::optional<std::size_t> beside_neutral(const Graph& graph, const Node& node) {
  if (node.inputs.size() != 2) return {};
  const bool sum = node.op == "Add" || node.op == "Sub";
  if (!sum && node.op != "Mul" && node.op != "Div") return {};
  const double neutral = sum ? 0 : 1;
  if (is_filled_with(graph, node.inputs[1], neutral)) return 0;
  const bool commutes = node.op == "Add" || node.op == "Mul";
  if (commutes && is_filled_with(graph, node.inputs[0], neutral)) return 1;
  return {};
}

bool hands_first_on(const Graph& graph, const Node& node) {
  const OpTraits& traits = traits_of(node);
  if (traits.identity_when_alike) return true;
  if (combines(traits)) return node.inputs.size() == 1;
  if (node.op == "Transpose") return transposes_nothing(node);
  if (node.op == "Slice") return slices_nothing(graph, node);
  if (node.op == "Pad") return pads_nothing(graph, node);
  return node.op == "Clip" && clips_nothing(node);
}

/// The input that the node's output equals.
ValueId handed_on(const Graph& graph, const Node& node) {
  if (hands_first_on(graph, node)) return node.inputs[0];
  const auto place = beside_neutral(graph, node);
  return place ? node.inputs[*place] : ValueId::kNone;
}

}  // namespace

std::optional<Patch> remove_identity(const PassContext& context, NodeId id) {
  const Graph& graph = context.graph;
  const Node& node = graph.node(id);
  if (!node.domain.empty() || node.inputs.empty() || node.outputs.empty() || !node.post_ops.empty()) return {};
  // Dropout may have a second output, the mask.
  if (std::ranges::any_of(std::span(node.outputs).subspan(1), [](ValueId output) { return output != ValueId::kNone; }))
    return {};
  const ValueId input = handed_on(graph, node);
  if (!may_replace(graph, output_of(node), input)) return {};
  Patch patch(graph, fmt::format("{} ({})", node.name, node.op));
  patch.replace(output_of(node), input);
  return patch;
}

}  // namespace saccade
