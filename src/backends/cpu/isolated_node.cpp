#include "cpu/isolated_node.hpp"

#include <map>

#include "ops/elementwise/cast.hpp"

namespace saccade::cpu {

IsolatedNode::IsolatedNode(const NodeContext& context) {
  std::map<ValueId, ValueId> copies;
  const auto copy = [&](ValueId id) {
    if (id == ValueId::kNone) return id;
    const auto [place, is_new] = copies.emplace(id, ValueId::kNone);
    if (!is_new) return place->second;
    const Value& value = context.graph.value(id);
    place->second =
        value.constant ? graph_.add_constant(value.name, *value.constant) : graph_.add_value(value.name, value.type);
    graph_.value(place->second).layout = value.layout;
    return place->second;
  };
  Node node = context.node;
  for (ValueId& input : node.inputs) input = copy(input);
  for (ValueId& output : node.outputs) output = copy(output);
  node_ = graph_.add_node(std::move(node));
}

void IsolatedNode::compute_in(DType dtype) {
  constexpr std::int64_t kFew = 16;
  const Node& node = graph_.node(node_);
  const auto convert = [&](ValueId id) {
    if (id == ValueId::kNone || graph_.value(id).type.dtype != DType::kFloat32) return;
    Value& value = graph_.value(id);
    value.type.dtype = dtype;
    if (!value.constant) return;
    Tensor converted(dtype, value.type.shape);
    if (value.type.shape.elements() <= kFew) cast_elements(view_of(*value.constant), view_of(converted));
    value.constant = std::move(converted);
  };
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    if (is_float_operand(node, i)) convert(node.inputs[i]);
  for (const ValueId output : node.outputs) convert(output);
}

void IsolatedNode::lay_out_channels_last() {
  const Node& node = graph_.node(node_);
  const int rank = context().output().type.shape.rank();
  const auto lay_out = [&](ValueId id) {
    if (id == ValueId::kNone || graph_.constant(id) != nullptr || rank < 3) return;
    if (graph_.value(id).type.shape.rank() == rank) graph_.value(id).layout = Layout::kChannelsLast;
  };
  for (const ValueId input : node.inputs) lay_out(input);
  for (const ValueId output : node.outputs) lay_out(output);
}

}  // namespace saccade::cpu
