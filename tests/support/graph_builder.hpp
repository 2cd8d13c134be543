#pragma once

#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.hpp"
#include "ops/interpreter/infer.hpp"
#include "support/printers.hpp"

namespace saccade::test {

/// Uniform elements in LOW..HIGH, deterministic by seed.
inline Tensor random_tensor(const Shape& shape, unsigned seed, float low = -1, float high = 1) {
  std::mt19937 generator(seed);
  Tensor tensor(DType::kFloat32, shape);
  for (float& element : tensor.data<float>())
    element = low + (high - low) * static_cast<float>(generator() & 0xffff) / 65536.0F;
  return tensor;
}

/// Builds small graphs: `b.op("Relu", {b.op("Conv", {x, w})})`. Nodes are named after their operator and number,
/// "Conv0", "Relu1", in the order of insertion, and so are their outputs unless a name is given.
class GraphBuilder {
 public:
  ValueId input(const std::string& name, const Shape& shape, DType dtype = DType::kFloat32) {
    return graph_.add_input(name, {dtype, shape});
  }
  ValueId constant(Tensor tensor) { return graph_.add_constant("c" + std::to_string(constants_++), std::move(tensor)); }
  ValueId floats(const Shape& shape, std::initializer_list<float> values) {
    return constant(Tensor::of<float>(shape, values));
  }
  ValueId scalar(float value) { return constant(Tensor::scalar(value)); }
  /// A vector of int64: a target shape, axes, pads.
  ValueId ints(std::initializer_list<std::int64_t> values) {
    return constant(Tensor::of<std::int64_t>(Shape{static_cast<std::int64_t>(values.size())}, values));
  }
  ValueId random(const Shape& shape, float low = -1, float high = 1) {
    return constant(random_tensor(shape, ++seed_, low, high));
  }

  using AttributeList = std::vector<std::pair<std::string, Attribute>>;

  /// A node with one output. Saccade's operators are written "saccade.Silu".
  ValueId op(const std::string& op, std::vector<ValueId> inputs, const AttributeList& attributes = {}) {
    return multi(op, std::move(inputs), 1, attributes)[0];
  }
  std::vector<ValueId> multi(const std::string& op, std::vector<ValueId> inputs, int outputs,
                             const AttributeList& attributes = {}) {
    const auto dot = op.rfind('.');
    Node node{.domain = dot == std::string::npos ? "" : op.substr(0, dot),
              .op = dot == std::string::npos ? op : op.substr(dot + 1)};
    node.name = node.op + std::to_string(nodes_++);
    node.inputs = std::move(inputs);
    for (int i = 0; i < outputs; ++i)
      node.outputs.push_back(graph_.add_value(outputs == 1 ? node.name : node.name + "." + std::to_string(i)));
    for (const auto& [name, attribute] : attributes) node.attributes.set(name, attribute);
    std::vector<ValueId> made = node.outputs;
    graph_.add_node(std::move(node));
    return made;
  }

  /// The graph with these outputs and inferred types.
  Graph build(const std::vector<ValueId>& outputs) {
    for (ValueId output : outputs) graph_.add_output(output);
    infer_types(graph_);
    return std::move(graph_);
  }
  /// The graph so far, for tests that damage it.
  Graph& graph() { return graph_; }

 private:
  Graph graph_;
  int nodes_ = 0;
  int constants_ = 0;
  unsigned seed_ = 0;
};

/// "Conv Relu Add": the operators in order, post-ops after a bar as "Conv|Relu|Add".
inline std::string operators(const Graph& graph) {
  std::string text;
  for (NodeId id : graph.order()) {
    text += (text.empty() ? "" : " ") + graph.node(id).op;
    for (const PostOp& post : graph.node(id).post_ops) text += "|" + post.op;
  }
  return text;
}

}  // namespace saccade::test
