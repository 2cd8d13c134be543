#include "passes/rewrite.hpp"

namespace saccade {
namespace {

using test::GraphBuilder;
using test::operators;
using test::rewrite;

TEST(EliminateDeadCode, DropsNodesThatNothingReads) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2});
  b.op("Relu", {b.op("Sigmoid", {x})});
  Graph graph = b.build({b.op("Tanh", {x})});

  rewrite(graph, "eliminate_dead_code");

  EXPECT_EQ(operators(graph), "Tanh");
}

TEST(EliminateDeadCode, KeepsANodeOfWhoseOutputsOneIsRead) {
  GraphBuilder b;
  const ValueId x = b.input("x", {4});
  const auto halves = b.multi("Split", {x, b.ints({2, 2})}, 2, {{"axis", std::int64_t{0}}});
  Graph graph = b.build({halves[1]});
  EXPECT_EQ(rewrite(graph, "eliminate_dead_code"), 0);
}

TEST(EliminateCommonSubexpressions, MergesEqualChains) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2, 3});
  const ValueId left = b.op("Reshape", {b.op("Sigmoid", {x}), b.ints({3, 2})});
  const ValueId right = b.op("Reshape", {b.op("Sigmoid", {x}), b.ints({3, 2})});
  Graph graph = b.build({b.op("Add", {left, right})});

  EXPECT_EQ(rewrite(graph, "eliminate_common_subexpressions"), 2);

  EXPECT_EQ(operators(graph), "Sigmoid Reshape Add");
}

TEST(EliminateCommonSubexpressions, KeepsNodesThatDifferInAnAttributeAConstantOrAnOperand) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2, 2});
  const ValueId y = b.input("y", {2, 2});
  const std::vector<ValueId> outputs = {
      b.op("LeakyRelu", {x}, {{"alpha", 0.1F}}),
      b.op("LeakyRelu", {x}, {{"alpha", 0.2F}}),
      b.op("Reshape", {x, b.ints({4})}),
      b.op("Reshape", {x, b.ints({1, 4})}),
      b.op("Sub", {x, y}),
      b.op("Sub", {y, x}),
  };
  Graph graph = b.build(outputs);
  EXPECT_EQ(rewrite(graph, "eliminate_common_subexpressions"), 0);
}

TEST(EliminateCommonSubexpressions, DoesNotCompareThousandsOfReadersWithEachOther) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2});
  std::vector<ValueId> same;
  for (int i = 0; i < 1001; ++i) same.push_back(b.op("Relu", {x}));
  Graph graph = b.build({b.op("Concat", same, {{"axis", std::int64_t{0}}})});

  EXPECT_EQ(rewrite(graph, "eliminate_common_subexpressions"), 0);
}

TEST(EliminateCommonSubexpressions, KeepsTwoOutputsOfTheGraphApart) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2});
  Graph graph = b.build({b.op("Relu", {x}), b.op("Relu", {x})});
  EXPECT_EQ(rewrite(graph, "eliminate_common_subexpressions"), 0);
}

}  // namespace
}  // namespace saccade
