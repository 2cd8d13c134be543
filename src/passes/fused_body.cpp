#include "passes/fused_body.hpp"

#include "passes/core/match.hpp"

namespace saccade {

std::optional<Patch> eliminate_common_subexpressions(const PassContext& context, NodeId id);

namespace {

/// Constants that determine shapes or kernel source. Others are inputs, so that they are stored once.
bool stays_inside(const Tensor& constant) {
  const bool counts = constant.dtype() == DType::kInt64 || constant.dtype() == DType::kInt32;
  return constant.elements() == 1 || (counts && constant.shape().rank() <= 1);
}

void merge_equal_nodes(Graph& body) {
  KnownValues known(body);
  const PassContext context{body, known, {}, {}};
  for (NodeId id : body.order()) {
    if (!body.alive(id)) continue;
    if (const auto patch = eliminate_common_subexpressions(context, id)) body.apply(*patch);
  }
}

}  // namespace

void FusedBody::take(const std::set<NodeId>& nodes) {
  for (NodeId id : nodes) take(id, nodes);
}

void FusedBody::take(NodeId id, const std::set<NodeId>& nodes) {
  if (!taken_.insert(id).second) return;
  const Node& node = graph_.node(id);
  for (ValueId input : node.inputs)
    if (input != ValueId::kNone && nodes.contains(graph_.value(input).producer))
      take(graph_.value(input).producer, nodes);
  if (node.is("Fused", "saccade"))
    inline_body(node);
  else if (node.is("Reorder", "saccade"))
    inner_[output_of(node)] = inner(node.inputs[0]);
  else
    copy(node);
}

void FusedBody::copy(const Node& node) {
  Node copied = node;
  for (ValueId& input : copied.inputs) input = inner(input);
  for (ValueId& output : copied.outputs) {
    if (output == ValueId::kNone) continue;
    const Value& value = graph_.value(output);
    output = inner_[output] = body_.add_value(value.name, value.type);
  }
  body_.add_node(std::move(copied));
}

void FusedBody::inline_body(const Node& fused) {
  const std::shared_ptr<const Graph> body = fused.attributes.graph("body");
  std::map<ValueId, ValueId> here;
  for (std::size_t i = 0; i < fused.inputs.size(); ++i) here[body->inputs()[i]] = inner(fused.inputs[i]);
  const auto find = [&](ValueId id) {
    const auto [place, is_new] = here.emplace(id, ValueId::kNone);
    if (is_new && id != ValueId::kNone) place->second = copy_constant(body->value(id));
    return place->second;
  };
  for (NodeId id : body->order()) {
    Node copied = body->node(id);
    for (ValueId& input : copied.inputs) input = find(input);
    for (ValueId& output : copied.outputs) {
      if (output == ValueId::kNone) continue;
      const Value& value = body->value(output);
      output = here[output] = body_.add_value(value.name, value.type);
    }
    body_.add_node(std::move(copied));
  }
  for (std::size_t i = 0; i < fused.outputs.size(); ++i) inner_[fused.outputs[i]] = here.at(body->outputs()[i]);
}

ValueId FusedBody::inner(ValueId outer) {
  if (outer == ValueId::kNone) return outer;
  const auto [place, is_new] = inner_.emplace(outer, ValueId::kNone);
  if (!is_new) return place->second;
  const Value& value = graph_.value(outer);
  if (value.constant && stays_inside(*value.constant)) return place->second = copy_constant(value);
  inputs_.push_back(outer);
  return place->second = body_.add_input(fmt::format("in{}", inputs_.size() - 1), value.type);
}

ValueId FusedBody::copy_constant(const Value& value) { return body_.add_constant(value.name, *value.constant); }

std::shared_ptr<const Graph> FusedBody::finish(ValueId value) {
  body_.add_output(inner_.at(value));
  merge_equal_nodes(body_);
  body_.value(body_.outputs()[0]).name = "out";
  return std::make_shared<const Graph>(std::move(body_));
}

}  // namespace saccade
