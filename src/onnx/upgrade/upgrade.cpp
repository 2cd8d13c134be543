#include "onnx/upgrade/upgrade.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "base/error.hpp"
#include "onnx/upgrade/builder.hpp"
#include "onnx/upgrade/upgrade_rule.hpp"
#include "ops/core/dispatch.hpp"

namespace saccade {
namespace {

struct Rename {
  std::string_view from;
  std::string_view to;
};

// Operators that a rule converts into another one.
// operator list: names of older forms.
constexpr std::array kRenames = {
    Rename{"Dropout", "Identity"},
    Rename{"Scatter", "ScatterElements"},
    Rename{"SimplifiedLayerNormalization", "RMSNormalization"},
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

/// Sets the contents of KNOWN's inputs to CONTENTS.
void assume(KnownValues& known, const Graph& graph, const std::map<std::string, Tensor>& contents) {
  for (const auto& [name, tensor] : contents) {
    const auto id = std::ranges::find(graph.inputs(), name, [&](ValueId input) { return graph.value(input).name; });
    if (id == graph.inputs().end())
      fail(ErrorCode::kInvalidArgument, "contents are given for '{}', which is not an input", name);
    const TensorType& type = graph.value(*id).type;
    if (tensor.dtype() != type.dtype || tensor.shape() != type.shape)
      fail(ErrorCode::kInvalidArgument, "the input '{}' is {} {} and can't hold {} {}", name, to_string(type.dtype),
           type.shape.to_string(), to_string(tensor.dtype()), tensor.shape().to_string());
    known.assume(*id, tensor);
  }
}

/// Makes constants of the inputs whose contents the graph was built for.
void fix_relied_on(Graph& graph, const KnownValues& known, const std::map<std::string, Tensor>& contents) {
  for (ValueId id : known.relied_on()) graph.value(id).constant = contents.at(graph.value(id).name);
  std::vector<ValueId> open;
  std::ranges::copy_if(graph.inputs(), std::back_inserter(open),
                       [&](ValueId id) { return !known.relied_on().contains(id); });
  graph.set_inputs(std::move(open));
}

}  // namespace

bool is_known(const Node& node) {
  if (node.domain == "saccade") return false;
  const auto is_rule = [&](const UpgradeRule& rule) { return rule.op == node.op; };
  if (node.domain == "com.microsoft" && std::ranges::any_of(microsoft_rules(), is_rule)) return true;
  const auto* renamed = std::ranges::find(kRenames, node.op, &Rename::from);
  const bool is_renamed = node.domain.empty() && renamed != kRenames.end();
  return find_op(node.domain, is_renamed ? renamed->to : node.op) != nullptr;
}

Graph upgrade_graph(RawGraph raw, const std::map<std::string, Tensor>& contents, MemoryBudget& budget) {
  Graph graph = without_nodes(raw.graph);
  KnownValues known(graph, &budget);
  Extents extents(graph, known, &budget);
  assume(known, graph, contents);
  std::vector<ValueId> places;
  for (std::size_t i = 0; i < graph.value_count(); ++i) places.push_back(static_cast<ValueId>(i));
  try {
    Builder(graph, known, extents, budget).add_nodes(raw, places);
  } catch (const Error& error) {
    throw Error(error.code(), error.what() + raw.shape_hint);
  }
  fix_relied_on(graph, known, contents);
  extents.bound_outputs();
  return graph;
}

void add_inferred(Graph& graph, KnownValues& known, Extents& extents, Node node) {
  if (extents.has_open_sizes(node)) return extents.add(std::move(node));
  const std::vector<TensorType> types = infer_node(graph, node, known);
  for (std::size_t i = 0; i < types.size(); ++i)
    if (node.outputs[i] != ValueId::kNone) graph.value(node.outputs[i]).type = types[i];
  if (extents.needs(node)) extents.learn(graph.node(graph.add_node(std::move(node))));
}

const TensorType& Upgrade::type(std::size_t input) const {
  if (!has(input)) fail(ErrorCode::kInvalidFile, "input {} is missing", input);
  return graph_.value(node.inputs[input]).type;
}

ValueId Upgrade::constant(std::string_view what, Tensor tensor) {
  return graph_.add_constant(fmt::format("{}/{}", node.name, what), std::move(tensor));
}

Tensor Upgrade::scalar_like(float value) const {
  const DType dtype = type(0).dtype;
  if (!is_float(dtype)) fail(ErrorCode::kInvalidFile, "it takes floats, not {}", to_string(dtype));
  Tensor scalar;
  with_float(dtype, [&]<typename T>(std::type_identity<T>) { scalar = Tensor::scalar(T(value)); });
  return scalar;
}

void Upgrade::set_input(std::size_t at, std::string_view what, Tensor tensor) {
  if (node.inputs.size() <= at) node.inputs.resize(at + 1, ValueId::kNone);
  node.inputs[at] = constant(what, std::move(tensor));
}

void Upgrade::give(std::size_t at, ValueId value) {
  add_inferred(graph_, known_, extents_,
               {.op = "Identity",
                .name = fmt::format("{}/output_{}", node.name, at),
                .inputs = {value},
                .outputs = {node.outputs[at]}});
}

ValueId Upgrade::before(std::string_view what, Node added) {
  added.name = fmt::format("{}/{}", node.name, what);
  const ValueId output = graph_.add_value(added.name);
  added.outputs = {output};
  add_inferred(graph_, known_, extents_, std::move(added));
  return output;
}

ValueId Upgrade::to_shape(std::string op, std::string_view what, ValueId input, const Shape& shape) {
  const ValueId target =
      graph_.add_constant(fmt::format("{}/{}_shape", node.name, what),
                          Tensor::of<std::int64_t>(Shape{shape.rank()}, std::span(shape.begin(), shape.end())));
  return before(what, {.op = std::move(op), .inputs = {input, target}});
}

}  // namespace saccade
