#include "passes/rewrite.hpp"

namespace saccade {
namespace {

using test::GraphBuilder;
using test::operators;
using test::rewrite;

TEST(FoldConstants, ComputesAShapeExpression) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2, 3, 4});
  const ValueId shape = b.op("Shape", {x});
  const ValueId rows = b.op("Gather", {shape, b.constant(Tensor::scalar<std::int64_t>(0))});
  const ValueId target =
      b.op("Concat", {b.op("Unsqueeze", {rows, b.ints({0})}), b.ints({12})}, {{"axis", std::int64_t{0}}});
  Graph graph = b.build({b.op("Reshape", {x, target})});

  EXPECT_EQ(rewrite(graph, "fold_constants"), 4);

  EXPECT_EQ(operators(graph), "Reshape");
  EXPECT_EQ(graph.constant(test::last_node(graph).inputs[1])->data<std::int64_t>()[0], 2);
}

TEST(FoldConstants, MakesAnOutputAConstantThatKeepsItsName) {
  GraphBuilder b;
  b.input("x", {2});
  Graph graph = b.build({b.op("Add", {b.floats({2}, {1, 2}), b.scalar(10)})});

  EXPECT_EQ(rewrite(graph, "fold_constants"), 1);

  const ValueId output = graph.outputs()[0];
  EXPECT_EQ(graph.value(output).name, "Add0");
  EXPECT_EQ(graph.constant(output)->data<float>()[1], 12);
}

TEST(FoldConstants, KeepsANodeThatReadsTheGraphsInput) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2});
  Graph graph = b.build({b.op("Add", {x, b.scalar(10)})});
  EXPECT_EQ(rewrite(graph, "fold_constants"), 0);
}

TEST(FoldConstants, KeepsAnExpandWhoseResultIsFarLargerThanItsInput) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1});
  const ValueId large = b.op("Expand", {b.scalar(1), b.ints({1024, 1024})});
  Graph graph = b.build({b.op("Add", {large, x})});
  EXPECT_EQ(rewrite(graph, "fold_constants"), 0);
}

}  // namespace
}  // namespace saccade
