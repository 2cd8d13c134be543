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

TEST(FoldConstants, ResultsCountTogetherAgainstTheLimit) {
  const auto run = [](std::size_t max_memory) {
    GraphBuilder b;
    const ValueId x = b.input("x", {1024});
    ValueId sum = x;
    // 4 KiB each, folded before the Add.
    for (int i = 0; i < 3; ++i) sum = b.op("Add", {sum, b.op("Expand", {b.scalar(1), b.ints({1024})})});
    Graph graph = b.build({sum});
    run_passes(graph, {.max_memory = max_memory});
  };

  EXPECT_NO_THROW(run(64 << 10));
  try {
    run(10 << 10);
    FAIL() << "12 KiB fit into 10 KiB";
  } catch (const Error& error) {
    EXPECT_NE(std::string_view(error.what()).find("(Expand): it needs 4.0 KiB, but of the model's limit of 10.0 KiB"),
              std::string_view::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace saccade
