#include "vision/fragment.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ops/core/values.hpp"
#include "ops/interpreter/infer.hpp"

namespace saccade {
namespace {

Node node_of(std::string_view domain, std::string_view name, std::vector<ValueId> inputs,
             Fragment::AttributeList attributes) {
  Node node{.domain = std::string(domain), .op = std::string(name), .inputs = std::move(inputs)};
  for (const auto& [key, value] : attributes) node.attributes.set(key, value);
  return node;
}

}  // namespace

std::vector<ValueId> Fragment::add(Node node, const std::vector<std::string>& outputs) {
  node.stage = stage_;
  node.name = fmt::format("{}/{}", to_string(stage_), node.op);
  for (const std::string& output : outputs)
    node.outputs.push_back(output.empty() ? ValueId::kNone : graph_.add_value(unique(output)));
  KnownValues known(graph_);
  const std::vector<TensorType> types = infer_node(graph_, node, known);
  for (std::size_t i = 0; i < types.size(); ++i)
    if (node.outputs[i] != ValueId::kNone) graph_.value(node.outputs[i]).type = types[i];
  std::vector<ValueId> made = node.outputs;
  graph_.add_node(std::move(node));
  return made;
}

ValueId Fragment::op(std::string_view name, std::vector<ValueId> inputs, AttributeList attributes) {
  return add(node_of("", name, std::move(inputs), attributes), {fmt::format("{}.{}", to_string(stage_), name)})[0];
}

ValueId Fragment::own(std::string_view name, std::vector<ValueId> inputs, AttributeList attributes) {
  return add(node_of("saccade", name, std::move(inputs), attributes),
             {fmt::format("{}.{}", to_string(stage_), name)})[0];
}

ValueId Fragment::constant(Tensor tensor) {
  return graph_.add_constant(unique(fmt::format("{}.constant", to_string(stage_))), std::move(tensor));
}

ValueId Fragment::floats(const Shape& shape, const std::vector<float>& values) {
  return constant(Tensor::of<float>(shape, values));
}

ValueId Fragment::ints(const std::vector<std::int64_t>& values) {
  return constant(Tensor::of<std::int64_t>({static_cast<std::int64_t>(values.size())}, values));
}

ValueId Fragment::cast(ValueId value, DType to) {
  if (graph_.value(value).type.dtype == to) return value;
  return op("Cast", {value}, {{"to", onnx_of_dtype(to)}});
}

ValueId Fragment::reshape(ValueId value, const std::vector<std::int64_t>& to) {
  return op("Reshape", {value, ints(to)});
}

ValueId Fragment::transpose(ValueId value, const std::vector<std::int64_t>& order) {
  return op("Transpose", {value}, {{"perm", order}});
}

ValueId Fragment::slice(ValueId value, std::int64_t axis, std::int64_t begin, std::int64_t end) {
  return op("Slice", {value, ints({begin}), ints({end}), ints({axis})});
}

ValueId Fragment::concat(std::vector<ValueId> values, std::int64_t axis) {
  return op("Concat", std::move(values), {{"axis", axis}});
}

ValueId Fragment::gather(ValueId value, std::int64_t axis, ValueId indices) {
  return op("Gather", {value, indices}, {{"axis", axis}});
}

std::string Fragment::unique(const std::string& wanted) const {
  const auto taken = [&](const std::string& name) {
    for (std::size_t i = 0; i < graph_.value_count(); ++i)
      if (graph_.value(static_cast<ValueId>(i)).name == name) return true;
    return false;
  };
  std::string name = wanted;
  for (int i = 2; taken(name); ++i) name = fmt::format("{}_{}", wanted, i);
  return name;
}

}  // namespace saccade
