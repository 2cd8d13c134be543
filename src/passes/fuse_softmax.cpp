#include <algorithm>

#include "passes/core/match.hpp"

// Fuses Exp(x - ReduceMax(x)) / ReduceSum(Exp(...)) along one dimension to Softmax.
namespace saccade {
namespace {

/// The only dimension that the node reduces, with keepdims; else negative.
int reduced_axis(const Graph& graph, const Node& node, std::string_view op) {
  if (!node.is(op) || !is_plain(node) || node.inputs.size() != 2 || node.attributes.integer("keepdims", 1) != 1)
    return -1;
  const auto axes = integer_constant(graph, node.inputs[1]);
  const int rank = graph.value(node.inputs[0]).type.shape.rank();
  if (!axes || axes->size() != 1 || (*axes)[0] < -rank || (*axes)[0] >= rank) return -1;
  return static_cast<int>((*axes)[0] < 0 ? (*axes)[0] + rank : (*axes)[0]);
}

/// The x of x - ReduceMax(x) along AXIS, or kNone. Without it Exp overflows where Softmax does not.
ValueId before_shift(const Graph& graph, ValueId shifted, int axis) {
  const Node* difference = graph.producer(shifted);
  if (difference == nullptr || !difference->is("Sub") || !is_plain(*difference)) return ValueId::kNone;
  const Node* maximum = graph.producer(difference->inputs[1]);
  if (maximum == nullptr || maximum->inputs.empty() || maximum->inputs[0] != difference->inputs[0])
    return ValueId::kNone;
  return reduced_axis(graph, *maximum, "ReduceMax") == axis ? difference->inputs[0] : ValueId::kNone;
}

}  // namespace

std::optional<Patch> fuse_softmax(const PassContext& context, NodeId id) {
  const Graph& graph = context.graph;
  const Node& quotient = graph.node(id);
  if (!quotient.is("Div") || !is_plain(quotient) || !is_float32(graph, output_of(quotient))) return {};
  const Node* exponent = graph.producer(quotient.inputs[0]);
  const Node* sum = graph.producer(quotient.inputs[1]);
  if (exponent == nullptr || sum == nullptr || !exponent->is("Exp") || !is_plain(*exponent)) return {};
  const int axis = reduced_axis(graph, *sum, "ReduceSum");
  if (axis < 0 || sum->inputs[0] != quotient.inputs[0]) return {};
  const ValueId x = before_shift(graph, exponent->inputs[0], axis);
  if (x == ValueId::kNone) return {};
  Patch patch(graph, fmt::format("Softmax at {}", quotient.name));
  Node softmax{.op = "Softmax", .name = quotient.name, .inputs = {x}, .stage = quotient.stage};
  softmax.attributes.set("axis", static_cast<std::int64_t>(axis));
  patch.replace(output_of(quotient),
                patch.add_node_with_output(std::move(softmax), {}, graph.value(output_of(quotient)).layout));
  return patch;
}

}  // namespace saccade
