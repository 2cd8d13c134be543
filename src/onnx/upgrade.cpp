#include "onnx/upgrade.hpp"

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "onnx/upgrade_rule.hpp"

namespace saccade {
namespace {

struct Rename {
  std::string_view from;
  std::string_view to;
};

// What the rules turn into another operator.
constexpr std::array kRenames = {
    Rename{"Dropout", "Identity"},
    Rename{"Scatter", "ScatterElements"},
    Rename{"Upsample", "Resize"},
};

/// RAW's values, inputs and outputs under the same ids, without its nodes.
Graph without_nodes(Graph& raw) {
  Graph graph;
  graph.name = std::move(raw.name);
  graph.metadata = std::move(raw.metadata);
  for (std::size_t i = 0; i < raw.value_count(); ++i) {
    Value& value = raw.value(static_cast<ValueId>(i));
    const ValueId id = graph.add_value(value.name, value.type);
    graph.value(id).constant = std::move(value.constant);
  }
  graph.set_inputs({raw.inputs().begin(), raw.inputs().end()});
  graph.set_outputs({raw.outputs().begin(), raw.outputs().end()});
  return graph;
}

void apply_rules(Upgrade& upgrade, std::int64_t version) {
  if (!upgrade.node.domain.empty()) return;
  for (const auto rules : {argument_rules(), meaning_rules()})
    for (const UpgradeRule& rule : rules)
      if (rule.op == upgrade.node.op && version < rule.until) {
        upgrade.type(0);  // every operator here has an input
        rule.apply(upgrade);
      }
}

void add_inferred(Graph& graph, KnownValues& known, Node node) {
  const std::vector<TensorType> types = infer_node(graph, node, known);
  for (std::size_t i = 0; i < types.size(); ++i)
    if (node.outputs[i] != ValueId::kNone) graph.value(node.outputs[i]).type = types[i];
  graph.add_node(std::move(node));
}

void upgrade_node(Graph& graph, KnownValues& known, const Graph& raw, const Node& node, std::int64_t version) {
  Upgrade upgrade(graph, known, raw, node);
  try {
    apply_rules(upgrade, version);
  } catch (const Error& error) {
    throw error.in(fmt::format("node '{}' ({})", node.name, node.op));
  }
  add_inferred(graph, known, std::move(upgrade.node));
}

}  // namespace

std::string newest_name(const Node& node) {
  const auto* found = std::ranges::find(kRenames, node.op, &Rename::from);
  return !node.domain.empty() || found == kRenames.end() ? node.op : std::string(found->to);
}

Graph upgrade_graph(RawGraph raw) {
  Graph graph = without_nodes(raw.graph);
  KnownValues known(graph);
  for (NodeId id : raw.graph.order()) {
    try {
      upgrade_node(graph, known, raw.graph, raw.graph.node(id), raw.versions[static_cast<std::size_t>(id)]);
    } catch (const Error& error) {
      throw Error(error.code(), error.what() + raw.shape_hint);
    }
  }
  return graph;
}

const TensorType& Upgrade::type(std::size_t input) const {
  if (!has(input)) fail(ErrorCode::kInvalidFile, "input {} is missing", input);
  return graph_.value(node.inputs[input]).type;
}

bool Upgrade::wants(std::size_t output) const {
  if (output >= node.outputs.size() || node.outputs[output] == ValueId::kNone) return false;
  return !raw_.users(node.outputs[output]).empty() || raw_.is_output(node.outputs[output]);
}

void Upgrade::set_input(std::size_t at, std::string_view what, Tensor tensor) {
  if (node.inputs.size() <= at) node.inputs.resize(at + 1, ValueId::kNone);
  node.inputs[at] = graph_.add_constant(fmt::format("{}/{}", node.name, what), std::move(tensor));
}

ValueId Upgrade::before(std::string_view what, Node added) {
  added.name = fmt::format("{}/{}", node.name, what);
  const ValueId output = graph_.add_value(added.name);
  added.outputs = {output};
  add_inferred(graph_, known_, std::move(added));
  return output;
}

ValueId Upgrade::to_shape(std::string op, std::string_view what, ValueId input, const Shape& shape) {
  const ValueId target =
      graph_.add_constant(fmt::format("{}/{}_shape", node.name, what),
                          Tensor::of<std::int64_t>(Shape{shape.rank()}, std::span(shape.begin(), shape.end())));
  return before(what, {.op = std::move(op), .inputs = {input, target}});
}

}  // namespace saccade
