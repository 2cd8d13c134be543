#include <gtest/gtest.h>

#include "base/error.hpp"
#include "ops/interpreter/interpret.hpp"
#include "support/graph_builder.hpp"

namespace saccade {
namespace {

using test::GraphBuilder;

/// out = (in0 + in1) * 2, of three floats.
Graph body() {
  GraphBuilder b;
  const ValueId sum = b.op("Add", {b.input("in0", {3}), b.input("in1", {1})});
  return b.build({b.op("Mul", {sum, b.scalar(2)})});
}

Graph graph_of(const Graph& body, std::initializer_list<Shape> shapes) {
  GraphBuilder b;
  std::vector<ValueId> inputs;
  for (const Shape& shape : shapes) inputs.push_back(b.input("x" + std::to_string(inputs.size()), shape));
  return b.build({b.op("saccade.Fused", inputs, {{"body", std::make_shared<const Graph>(body)}})});
}

std::string refusal(const Graph& body, std::initializer_list<Shape> shapes) {
  try {
    graph_of(body, shapes);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(Fused, RunsItsBody) {
  const Graph graph = graph_of(body(), {{3}, {1}});
  const auto outputs =
      interpret(graph, {{"x0", Tensor::of<float>({3}, {1, 2, 3})}, {"x1", Tensor::of<float>({1}, {10})}});
  EXPECT_TRUE(std::ranges::equal(outputs[0].data<float>(), std::vector<float>{22, 24, 26}));
}

TEST(Fused, RefusesWhatDoesNotFitItsBody) {
  EXPECT_NE(refusal(body(), {{3}}).find("1 inputs for a body of 2"), std::string::npos);
  EXPECT_NE(refusal(body(), {{4}, {1}}).find("input 0 is float32 4, but its body takes float32 3"), std::string::npos);
  EXPECT_NE(refusal(graph_of(body(), {{3}, {1}}), {{3}, {1}}).find("which has a body"), std::string::npos);
  GraphBuilder b;
  b.op("saccade.Fused", {b.input("x", {3})});
  EXPECT_THROW(infer_types(b.graph()), Error);
}

}  // namespace
}  // namespace saccade
