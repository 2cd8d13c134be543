#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <string>
#include <vector>

#include "ops/interpreter/infer.hpp"
#include "ops/interpreter/interpret.hpp"

namespace saccade {

/// One operator on given inputs: runs its shape rule and its reference kernel.
struct OpCall {
  std::string op;
  std::vector<Tensor> inputs;  ///< an empty tensor is an omitted input
  std::vector<std::pair<std::string, Attribute>> attributes;
  int outputs = 1;
  std::string domain;
  bool constant = true;  ///< else they are graph inputs, whose contents the shape rule cannot see

  /// The outputs; throws the errors of the shape rule or the kernel.
  std::vector<Tensor> run() const {
    Graph graph;
    Node node{.domain = domain, .op = op, .name = "node"};
    std::map<std::string, Tensor> fed;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const std::string name = "in" + std::to_string(i);
      if (inputs[i].empty()) {
        node.inputs.push_back(ValueId::kNone);
      } else if (constant) {
        node.inputs.push_back(graph.add_constant(name, inputs[i]));
      } else {
        node.inputs.push_back(graph.add_input(name, {inputs[i].dtype(), inputs[i].shape()}));
        fed[name] = inputs[i];
      }
    }
    for (const auto& [name, value] : attributes) node.attributes.set(name, value);
    for (int i = 0; i < outputs; ++i) node.outputs.push_back(graph.add_value("out" + std::to_string(i)));
    for (ValueId output : node.outputs) graph.add_output(output);
    graph.add_node(std::move(node));
    infer_types(graph);
    return interpret(graph, fed);
  }

  Tensor one() const { return run().at(0); }
  /// The error's code and message; a test failure if there is none.
  std::pair<ErrorCode, std::string> error() const {
    try {
      run();
    } catch (const Error& error) {
      return {error.code(), error.what()};
    }
    ADD_FAILURE() << op << " was expected to fail";
    return {};
  }
};

/// Expects type, shape and every element; floats within TOLERANCE (NaN equals NaN).
template <typename T>
void expect_tensor(const Tensor& tensor, const Shape& shape, const std::vector<T>& values, double tolerance = 0) {
  ASSERT_EQ(to_string(tensor.dtype()), to_string(DTypeOf<T>::value));
  ASSERT_EQ(tensor.shape().to_string(), shape.to_string());
  ASSERT_EQ(tensor.elements(), static_cast<std::int64_t>(values.size()));
  const T* got = reinterpret_cast<const T*>(tensor.raw());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if constexpr (std::is_integral_v<T>) {
      EXPECT_EQ(got[i], values[i]) << "element " << i;
    } else {
      const auto have = static_cast<double>(got[i]);
      const auto want = static_cast<double>(values[i]);
      EXPECT_TRUE(have == want || (std::isnan(have) && std::isnan(want)) || std::abs(have - want) <= tolerance)
          << "element " << i << " is " << have << ", not " << want;
    }
  }
}

}  // namespace saccade
