#include <algorithm>
#include <span>

#include "passes/core/match.hpp"

// Nodes whose output is their first input, element for element.
namespace saccade {
namespace {

bool all_ones(const Graph& graph, ValueId id) { return id == ValueId::kNone || is_filled_with(graph, id, 1); }

/// Operators of any number of operands hand a single one on.
bool combines(const OpTraits& traits) {
  return traits.is_variadic() && (traits.is_elementwise() || traits.movement != Movement::kNone);
}

bool transposes_nothing(const Node& node) {
  const auto perm = node.attributes.integers("perm");
  return !perm.empty() && std::ranges::is_sorted(perm);
}

/// The same shape comes out of a slice that starts at 0, and of one that runs backwards.
bool slices_nothing(const Graph& graph, const Node& node) {
  return node.inputs.size() < 5 || all_ones(graph, node.inputs[4]);
}

/// Pads may be negative: equal shapes alone don't tell.
bool pads_nothing(const Graph& graph, const Node& node) {
  return node.inputs.size() > 1 && is_filled_with(graph, node.inputs[1], 0);
}

bool clips_nothing(const Node& node) {
  return std::ranges::all_of(std::span(node.inputs).subspan(1), [](ValueId bound) { return bound == ValueId::kNone; });
}

/// x + 0, x - 0, x * 1, x / 1, and 0 + x, 1 * x: the place of x.
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

/// The input that the node's output equals, if types and shapes agree too.
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
  // Dropout's mask is an output of its own.
  if (std::ranges::any_of(std::span(node.outputs).subspan(1), [](ValueId output) { return output != ValueId::kNone; }))
    return {};
  const ValueId input = handed_on(graph, node);
  if (!may_replace(graph, output_of(node), input)) return {};
  Patch patch(graph, fmt::format("{} ({})", node.name, node.op));
  patch.replace(output_of(node), input);
  return patch;
}

}  // namespace saccade
