#pragma once

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "ops/interpreter/infer.hpp"
#include "runtime/reference_backend.hpp"

// A graph of four nodes for tests of plans and plan files, and the tensors that go in and out of it.
namespace saccade::test {

inline const ReferenceBackend kBackend;

/// y = relu(x + bias) reshaped to 6; z = y + y. Outputs y (a view) and z.
inline Graph small_graph() {
  Graph graph;
  const ValueId x = graph.add_input("x", {DType::kFloat32, {2, 3}});
  const ValueId bias = graph.add_constant("bias", Tensor::of<float>({3}, {1, 0, -4}));
  const ValueId target = graph.add_constant("target", Tensor::of<std::int64_t>({1}, {6}));
  const ValueId sum = graph.add_value("sum");
  const ValueId positive = graph.add_value("positive");
  const ValueId y = graph.add_value("y");
  const ValueId z = graph.add_value("z");
  graph.add_node({.op = "Add", .name = "add", .inputs = {x, bias}, .outputs = {sum}});
  graph.add_node({.op = "Relu", .name = "relu", .inputs = {sum}, .outputs = {positive}});
  graph.add_node({.op = "Reshape", .name = "reshape", .inputs = {positive, target}, .outputs = {y}});
  graph.add_node({.op = "Add", .name = "twice", .inputs = {y, y}, .outputs = {z}});
  graph.add_output(y);
  graph.add_output(z);
  infer_types(graph);
  return graph;
}

inline void fill(const TensorView& view, std::initializer_list<float> values) {
  std::ranges::copy(values, view.as<float>().begin());
}

inline std::vector<float> read(const TensorView& view) {
  const auto values = view.as<const float>();
  return {values.begin(), values.end()};
}

}  // namespace saccade::test
