#include "passes/rewrite.hpp"

namespace saccade {
namespace {

using test::GraphBuilder;
using test::operators;
using test::rewrite;

TEST(RemoveIdentity, DropsNodesWhoseOutputIsTheirInput) {
  GraphBuilder b;
  ValueId x = b.op("Relu", {b.input("x", {1, 2, 3, 4})});
  x = b.op("Identity", {x});
  x = b.op("Reshape", {x, b.ints({1, 2, 3, -1})});
  x = b.op("Transpose", {x}, {{"perm", std::vector<std::int64_t>{0, 1, 2, 3}}});
  x = b.op("Slice", {x, b.ints({0}), b.ints({9}), b.ints({3})});
  x = b.op("Pad", {x, b.ints({0, 0, 0, 0, 0, 0, 0, 0})});
  x = b.op("Expand", {x, b.ints({1, 2, 3, 4})});
  x = b.op("Cast", {x}, {{"to", std::int64_t{1}}});
  x = b.op("Concat", {x}, {{"axis", std::int64_t{1}}});
  x = b.op("Mul", {x, b.scalar(1)});
  x = b.op("Add", {b.scalar(0), x});
  Graph graph = b.build({b.op("Relu", {x})});

  EXPECT_EQ(rewrite(graph, "remove_identity"), 10);
  EXPECT_EQ(operators(graph), "Relu Relu");
}

TEST(RemoveIdentity, DropsWhatHandsASingleOperandOn) {
  GraphBuilder b;
  ValueId x = b.op("Relu", {b.input("x", {2, 3})});
  for (const char* op : {"Max", "Min", "Sum", "Mean", "Dropout"}) x = b.op(op, {x});
  x = b.op("CastLike", {x, b.scalar(1)});
  x = b.op("BitCast", {x}, {{"to", std::int64_t{1}}});
  x = b.op("Split", {x});
  Graph graph = b.build({b.op("Relu", {x})});

  EXPECT_EQ(rewrite(graph, "remove_identity"), 8);
  EXPECT_EQ(operators(graph), "Relu Relu");
}

TEST(RemoveIdentity, KeepsNodesOfEqualShapeThatMoveElements) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2, 2});
  const ValueId backwards = b.op("Slice", {x, b.ints({-1}), b.ints({-9}), b.ints({1}), b.ints({-1})});
  const ValueId turned = b.op("Transpose", {x}, {{"perm", std::vector<std::int64_t>{1, 0}}});
  const ValueId shifted = b.op("Pad", {x, b.ints({0, 1, 0, -1})});
  Graph graph = b.build({backwards, turned, shifted});
  EXPECT_EQ(rewrite(graph, "remove_identity"), 0);
}

TEST(RemoveIdentity, KeepsANodeThatWidensItsInput) {
  GraphBuilder b;
  const ValueId x = b.input("x", {3});
  Graph graph = b.build({b.op("Add", {x, b.floats({2, 1}, {0, 0})})});
  EXPECT_EQ(rewrite(graph, "remove_identity"), 0);
}

TEST(RemoveIdentity, KeepsTheNamesOfInputsAndOutputs) {
  GraphBuilder b;
  const ValueId x = b.input("x", {3});
  const ValueId y = b.op("Relu", {x});
  Graph graph = b.build({b.op("Identity", {x}), b.op("Identity", {y}), b.op("Identity", {y})});

  EXPECT_EQ(rewrite(graph, "remove_identity"), 1);

  EXPECT_EQ(graph.value(graph.inputs()[0]).name, "x");
  EXPECT_EQ(graph.value(graph.outputs()[0]).name, "Identity1");
  EXPECT_EQ(graph.value(graph.outputs()[1]).name, "Identity2");
  EXPECT_EQ(graph.value(graph.outputs()[2]).name, "Identity3");
}

}  // namespace
}  // namespace saccade
