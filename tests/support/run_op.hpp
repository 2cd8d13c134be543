#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "ops/core/op.hpp"
#include "ops/interpreter/infer.hpp"

namespace saccade::test {

using AttributeList = std::vector<std::pair<std::string, Attribute>>;

/// Infers and runs one of Saccade's own operators on TENSORS, with every output byte set to 0xCD beforehand, so that
/// unwritten elements show (an empty input tensor: omitted).
inline std::vector<Tensor> run_saccade_op(const std::string& name, const std::vector<Tensor>& tensors, int output_count,
                                          const AttributeList& attributes) {
  Graph graph;
  Node node{.domain = "saccade", .op = name, .name = name};
  for (const auto& [key, value] : attributes) node.attributes.set(key, value);
  std::vector<TensorView> inputs;
  for (const Tensor& tensor : tensors) {
    if (tensor.empty()) {
      node.inputs.push_back(ValueId::kNone);
      inputs.emplace_back();
    } else {
      node.inputs.push_back(graph.add_input("in" + std::to_string(inputs.size()), {tensor.dtype(), tensor.shape()}));
      inputs.push_back(view_of(tensor));
    }
  }
  for (int i = 0; i < output_count; ++i) node.outputs.push_back(graph.add_value("out" + std::to_string(i)));
  KnownValues known(graph);
  std::vector<Tensor> outputs;
  std::vector<TensorView> views;
  for (const TensorType& type : infer_node(graph, node, known)) {
    outputs.emplace_back(type.dtype, type.shape);
    std::memset(outputs.back().raw(), 0xCD, outputs.back().bytes());
    views.push_back(view_of(outputs.back()));
  }
  find_op("saccade", name)->reference(KernelContext(node, inputs, views));
  return outputs;
}

/// Expects the operator's rule to require exactly OUTPUT_COUNT outputs, none omitted: for kernels that write them all.
inline void expect_all_outputs_required(const std::string& name, const std::vector<Tensor>& tensors, int output_count,
                                        const AttributeList& attributes) {
  const auto infer = [&](int count, int left_out) {
    Graph graph;
    Node node{.domain = "saccade", .op = name, .name = name};
    for (const auto& [key, value] : attributes) node.attributes.set(key, value);
    for (std::size_t i = 0; i < tensors.size(); ++i)
      node.inputs.push_back(tensors[i].empty()
                                ? ValueId::kNone
                                : graph.add_input("in" + std::to_string(i), {tensors[i].dtype(), tensors[i].shape()}));
    for (int i = 0; i < count; ++i)
      node.outputs.push_back(i == left_out ? ValueId::kNone : graph.add_value("out" + std::to_string(i)));
    KnownValues known(graph);
    infer_node(graph, node, known);
  };
  EXPECT_NO_THROW(infer(output_count, -1)) << name;
  for (int count : {0, 1, output_count - 1, output_count + 1})
    EXPECT_THROW(infer(count, -1), Error) << name << " with " << count << " outputs";
  for (int i = 0; i < output_count; ++i) EXPECT_THROW(infer(output_count, i), Error) << name << " without output " << i;
}

/// The faults in an operator's output.
inline std::int32_t faults_in(const Tensor& output) { return output.data<std::int32_t>()[0]; }

template <typename T>
std::vector<T> elements(const Tensor& tensor) {
  const auto data = tensor.data<T>();
  return {data.begin(), data.end()};
}

}  // namespace saccade::test
