#include "inspect_report.hpp"

#include <set>

namespace saccade::app {
namespace {

std::int64_t product_from(const Shape& shape, int first) {
  std::int64_t product = 1;
  for (int i = first; i < shape.rank(); ++i) product *= shape[i];
  return product;
}

const Shape* input_shape(const Graph& graph, const Node& node, std::size_t i) {
  if (i >= node.inputs.size() || node.inputs[i] == ValueId::kNone) return nullptr;
  return &graph.value(node.inputs[i]).type.shape;
}

std::int64_t output_elements(const Graph& graph, const Node& node) {
  if (node.outputs.empty() || node.outputs[0] == ValueId::kNone) return 0;
  return graph.value(node.outputs[0]).type.shape.elements();
}

}  // namespace

std::int64_t macs_of(const Graph& graph, const Node& node) {
  const auto shape = [&](std::size_t i) { return input_shape(graph, node, i); };
  if (node.op == "Conv" || node.op == "ConvInteger" || node.op == "QLinearConv") {
    const Shape* weights = shape(node.op == "QLinearConv" ? 3 : 1);
    return weights == nullptr ? 0 : output_elements(graph, node) * product_from(*weights, 1);
  }
  if (node.op == "ConvTranspose") {
    const Shape* weights = shape(1);
    return weights == nullptr || shape(0) == nullptr ? 0 : shape(0)->elements() * product_from(*weights, 1);
  }
  if (node.op == "MatMul" || node.op == "MatMulInteger" || node.op == "QLinearMatMul") {
    const Shape* a = shape(0);
    return a == nullptr || a->rank() == 0 ? 0 : output_elements(graph, node) * a->back();
  }
  if (node.op == "Gemm") {
    const Shape* a = shape(0);
    if (a == nullptr || a->rank() != 2) return 0;
    return output_elements(graph, node) * (*a)[node.attributes.integer("transA", 0) != 0 ? 0 : 1];
  }
  return 0;
}

ModelFacts facts_of(const Graph& graph) {
  ModelFacts facts;
  std::set<ValueId> counted;
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    const std::string name = node.domain.empty() ? node.op : node.domain + "." + node.op;
    ++facts.operators[name];
    if (const std::int64_t macs = macs_of(graph, node); macs != 0) {
      facts.macs += macs;
      facts.macs_by_operator[name] += macs;
    }
    for (ValueId input : node.inputs) {
      const Tensor* constant = graph.constant(input);
      // Shapes and indices are no parameters.
      if (constant == nullptr || constant->dtype() == DType::kInt64 || !counted.insert(input).second) continue;
      facts.parameters += constant->elements();
      facts.parameter_bytes += constant->bytes();
    }
  }
  return facts;
}

}  // namespace saccade::app
