#include "passes/rewrite.hpp"

namespace saccade {
namespace {

using test::GraphBuilder;
using test::operators;
using test::rewrite;

ValueId transposed(GraphBuilder& b, ValueId x, std::vector<std::int64_t> perm) {
  return b.op("Transpose", {x}, {{"perm", std::move(perm)}});
}

TEST(MergeReshapes, MakesOneOfAChain) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2, 3, 4});
  const ValueId flat = b.op("Flatten", {x});
  const ValueId wide = b.op("Unsqueeze", {flat, b.ints({0})});
  Graph graph = b.build({b.op("Reshape", {wide, b.ints({4, -1})})});

  EXPECT_EQ(rewrite(graph, "merge_reshapes"), 2);

  EXPECT_EQ(operators(graph), "Reshape");
  EXPECT_EQ(graph.value(graph.outputs()[0]).type.shape, (Shape{4, 6}));
}

TEST(MergeReshapes, TakesATransposeThatOnlyMovesOnes) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 3, 1, 4});
  Graph graph = b.build({transposed(b, x, {2, 1, 0, 3}), transposed(b, x, {1, 3, 0, 2})});

  EXPECT_EQ(rewrite(graph, "merge_reshapes"), 2);
  EXPECT_EQ(operators(graph), "Reshape Reshape");
}

TEST(MergeReshapes, KeepsASingleReshapeAndATransposeThatMovesElements) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 3, 1, 4});
  Graph graph = b.build({b.op("Reshape", {transposed(b, x, {0, 3, 2, 1}), b.ints({12})})});
  EXPECT_EQ(rewrite(graph, "merge_reshapes"), 0);
}

TEST(CancelTransposes, ComposesTwoInARow) {
  GraphBuilder b;
  const ValueId x = b.op("Relu", {b.input("x", {2, 3, 4})});
  const ValueId inverse = transposed(b, transposed(b, x, {1, 2, 0}), {2, 0, 1});
  const ValueId composed = transposed(b, transposed(b, x, {1, 2, 0}), {1, 2, 0});
  Graph graph = b.build({b.op("Tanh", {inverse}), composed});

  EXPECT_EQ(rewrite(graph, "cancel_transposes"), 2);

  EXPECT_EQ(operators(graph), "Relu Tanh Transpose");
  EXPECT_EQ(graph.producer(graph.outputs()[1])->attributes.integers("perm"), (std::vector<std::int64_t>{2, 0, 1}));
}

TEST(CancelTransposes, GoesThroughElementwiseNodesAndConstants) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2, 3, 4});
  const ValueId last = transposed(b, x, {0, 2, 1});
  const ValueId gated = b.op("Mul", {last, b.op("Sigmoid", {last})});
  const ValueId scaled = b.op("Mul", {b.op("Add", {gated, b.random({4, 3})}), b.random({3})});
  Graph graph = b.build({transposed(b, b.op("Div", {scaled, b.scalar(3)}), {0, 2, 1})});

  EXPECT_EQ(rewrite(graph, "cancel_transposes"), 1);
  EXPECT_EQ(operators(graph), "Sigmoid Mul Add Mul Div");
}

TEST(CancelTransposes, GoesThroughEveryElementwiseOperator) {
  GraphBuilder b;
  const ValueId x = transposed(b, b.input("x", {2, 3, 4}), {0, 2, 1});
  const ValueId greater = b.op("Max", {b.op("Sinh", {x}), b.random({4, 3})});
  const ValueId chosen = b.op("Where", {b.op("IsNaN", {x}), b.scalar(0), greater});
  Graph graph = b.build({transposed(b, chosen, {0, 2, 1})});

  EXPECT_EQ(rewrite(graph, "cancel_transposes"), 1);
  EXPECT_EQ(operators(graph).find("Transpose"), std::string::npos) << operators(graph);
}

TEST(CancelTransposes, ComputesAValueThatANodeReadsTwiceOnce) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2, 3});
  const ValueId wave = b.op("Tanh", {transposed(b, x, {1, 0})});
  Graph graph = b.build({transposed(b, b.op("Mul", {wave, wave}), {1, 0})});

  EXPECT_EQ(rewrite(graph, "cancel_transposes"), 1);
  EXPECT_EQ(operators(graph), "Tanh Mul");
}

TEST(CancelTransposes, KeepsOneThatAnotherInputDoesNotUndo) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2, 3});
  const ValueId y = b.input("y", {3, 2});
  const ValueId sum = b.op("Add", {transposed(b, x, {1, 0}), y});
  Graph graph = b.build({transposed(b, sum, {1, 0})});
  EXPECT_EQ(rewrite(graph, "cancel_transposes"), 0);
}

TEST(CancelTransposes, KeepsOneBehindATensorOfFewerDimensions) {
  GraphBuilder b;
  const ValueId x = b.input("x", {3, 4});
  const ValueId y = b.input("y", {2, 4, 3});
  const ValueId sum = b.op("Add", {transposed(b, y, {0, 2, 1}), b.op("Relu", {transposed(b, x, {0, 1})})});
  Graph graph = b.build({transposed(b, sum, {0, 2, 1})});
  EXPECT_EQ(rewrite(graph, "cancel_transposes"), 0);
}

TEST(CancelTransposes, KeepsOneWhoseInputIsReadAsItLies) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2, 3});
  const ValueId wave = b.op("Tanh", {transposed(b, x, {1, 0})});
  Graph graph = b.build({transposed(b, wave, {1, 0}), b.op("Relu", {wave})});
  EXPECT_EQ(rewrite(graph, "cancel_transposes"), 0);
}

}  // namespace
}  // namespace saccade
