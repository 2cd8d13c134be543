#include "passes/core/min_cut.hpp"
#include "passes/rewrite.hpp"

namespace saccade {
namespace {

using test::GraphBuilder;
using test::operators;

/// Convolutions and pools want channels-last, Softmax and MatMul row-major, the rest does not mind.
LayoutRule rule(const Graph&, const Node& node) {
  if (node.op == "Conv" || node.op == "MaxPool") return LayoutRule::kChannelsLast;
  if (node.op == "Softmax" || node.op == "MatMul" || node.op == "Reshape") return LayoutRule::kRowMajor;
  return LayoutRule::kAny;
}

std::int64_t choose(Graph& graph) { return test::rewrite(graph, "choose_layouts", {.target = {.layout_rule = rule}}); }

bool is_channels_last(const Graph& graph, ValueId id) { return graph.value(id).layout == Layout::kChannelsLast; }

TEST(ChooseLayouts, ReordersOnceOnTheWayInAndOnceOnTheWayOut) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 3, 8, 8});
  const ValueId first = b.op("Relu", {b.op("Conv", {x, b.random({4, 3, 1, 1})})});
  const ValueId second = b.op("Conv", {first, b.random({4, 4, 1, 1})});
  const ValueId sum = b.op("Add", {first, second});
  Graph graph = b.build({sum});

  EXPECT_EQ(choose(graph), 1);

  EXPECT_EQ(operators(graph), "Reorder Conv Relu Conv Add Reorder");
  EXPECT_TRUE(is_channels_last(graph, first));
  EXPECT_TRUE(is_channels_last(graph, sum));
  EXPECT_FALSE(is_channels_last(graph, graph.outputs()[0]));
  EXPECT_EQ(graph.value(graph.outputs()[0]).name, "Add3");
}

TEST(ChooseLayouts, SharesOneReorderBetweenReadersAndAnOutput) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 3, 8, 8});
  const ValueId conv = b.op("Conv", {x, b.random({4, 3, 1, 1})});
  const ValueId left = b.op("Softmax", {conv});
  const ValueId right = b.op("Softmax", {conv}, {{"axis", std::int64_t{1}}});
  const ValueId pooled = b.op("MaxPool", {conv}, {{"kernel_shape", std::vector<std::int64_t>{2, 2}}});
  Graph graph = b.build({left, right, conv, b.op("Reshape", {pooled, b.ints({-1})})});

  choose(graph);

  EXPECT_EQ(operators(graph), "Reorder Conv Reorder Softmax Softmax MaxPool Reorder Reshape");
  EXPECT_EQ(graph.value(graph.outputs()[2]).name, "Conv0");
}

TEST(ChooseLayouts, MovesTheSmallerTensor) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 4, 8, 8});
  const ValueId conv = b.op("Conv", {x, b.random({4, 4, 1, 1})});
  const ValueId part = b.op("Slice", {conv, b.ints({0}), b.ints({1}), b.ints({2})});
  Graph graph = b.build({b.op("Softmax", {part})});

  choose(graph);

  EXPECT_EQ(operators(graph), "Reorder Conv Slice Reorder Softmax") << "the slice is an eighth of what it is cut from";
  EXPECT_TRUE(is_channels_last(graph, part));
}

TEST(ChooseLayouts, KeepsAGraphWithoutConvolutionsRowMajor) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2, 3, 4});
  Graph graph = b.build({b.op("Softmax", {b.op("Add", {x, b.op("Relu", {x})})})});
  EXPECT_EQ(choose(graph), 0);
}

TEST(ChooseLayouts, LeavesTensorsOfAnotherRankAlone) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 3, 8, 8});
  const ValueId bias = b.input("bias", {3, 8, 8});
  const ValueId conv = b.op("Conv", {x, b.random({3, 3, 1, 1})});
  Graph graph = b.build({b.op("Conv", {b.op("Add", {conv, bias}), b.random({3, 3, 1, 1})})});

  choose(graph);

  EXPECT_EQ(operators(graph), "Reorder Conv Add Conv Reorder");
  EXPECT_FALSE(is_channels_last(graph, bias));
}

TEST(ChooseLayouts, TakesAReshapeOfThePixelsAlongForNothing) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 3, 8, 8});
  const ValueId flat = b.op("Reshape", {b.op("Conv", {x, b.random({4, 3, 1, 1})}), b.ints({1, 4, 64})});
  Graph graph = b.build({b.op("Slice", {flat, b.ints({0}), b.ints({1}), b.ints({2})})});

  choose(graph);

  EXPECT_EQ(operators(graph), "Reorder Conv Reshape Slice Reorder");
  EXPECT_TRUE(is_channels_last(graph, flat));
}

TEST(ChooseLayouts, KeepsAReshapeOfTheChannelsRowMajor) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 3, 8, 8});
  const ValueId mixed = b.op("Reshape", {b.op("Conv", {x, b.random({4, 3, 1, 1})}), b.ints({1, 2, 2, 64})});
  Graph graph = b.build({b.op("Slice", {mixed, b.ints({0}), b.ints({1}), b.ints({2})})});

  choose(graph);

  EXPECT_EQ(operators(graph), "Reorder Conv Reorder Reshape Slice");
}

std::vector<std::int64_t> perm(std::initializer_list<std::int64_t> order) { return order; }

TEST(ChooseLayouts, TurnsFromNhwcAndBackForNothing) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 8, 8, 3});
  const ValueId turned = b.op("Transpose", {x}, {{"perm", perm({0, 3, 1, 2})}});
  const ValueId conv = b.op("Conv", {turned, b.random({4, 3, 1, 1})});
  const ValueId back = b.op("Transpose", {conv}, {{"perm", perm({0, 2, 3, 1})}});
  Graph graph = b.build({b.op("Softmax", {back})});

  EXPECT_EQ(choose(graph), 1);

  EXPECT_EQ(operators(graph), "Transpose Conv Transpose Softmax");
  EXPECT_TRUE(is_channels_last(graph, turned));
  EXPECT_TRUE(is_channels_last(graph, conv));
  EXPECT_FALSE(is_channels_last(graph, back));
}

TEST(ChooseLayouts, TurnsPixelsIntoTokensAndBackForNothing) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 3, 8, 8});
  const ValueId flat = b.op("Reshape", {b.op("Conv", {x, b.random({4, 3, 1, 1})}), b.ints({1, 4, 64})});
  const ValueId tokens = b.op("Softmax", {b.op("Transpose", {flat}, {{"perm", perm({0, 2, 1})}})});
  const ValueId pixels = b.op("Transpose", {tokens}, {{"perm", perm({0, 2, 1})}});
  Graph graph = b.build({b.op("Conv", {b.op("Reshape", {pixels, b.ints({1, 4, 8, 8})}), b.random({4, 4, 1, 1})})});

  choose(graph);

  EXPECT_EQ(operators(graph), "Reorder Conv Reshape Transpose Softmax Transpose Reshape Conv Reorder");
  EXPECT_TRUE(is_channels_last(graph, flat));
  EXPECT_TRUE(is_channels_last(graph, pixels));
}

TEST(ChooseLayouts, KeepsATransposeThatChangesOtherDimensions) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 8, 8, 3});
  const ValueId mirrored = b.op("Transpose", {x}, {{"perm", perm({0, 3, 2, 1})}});
  Graph graph = b.build({b.op("Softmax", {b.op("Conv", {mirrored, b.random({4, 3, 1, 1})})})});

  choose(graph);

  EXPECT_EQ(operators(graph), "Transpose Reorder Conv Reorder Softmax");
  EXPECT_FALSE(is_channels_last(graph, mirrored));
}

TEST(MinCut, TakesTheCheaperOfTwoCuts) {
  MinCut cut;
  const int a = cut.add_vertex();
  const int b = cut.add_vertex();
  cut.add_edge(MinCut::kSource, a, 5);
  cut.add_edge(a, b, 2);
  cut.add_edge(b, MinCut::kSink, 4);

  const std::vector<bool> with_source = cut.solve(1000);

  EXPECT_TRUE(with_source[static_cast<std::size_t>(a)]);
  EXPECT_FALSE(with_source[static_cast<std::size_t>(b)]);
}

TEST(MinCut, PushesFlowBackWhereAPathWasTakenTooEarly) {
  MinCut cut;
  const int a = cut.add_vertex();
  const int b = cut.add_vertex();
  for (const int vertex : {a, b}) {
    cut.add_edge(MinCut::kSource, vertex, 3);
    cut.add_edge(vertex, MinCut::kSink, 3);
  }
  cut.add_edge(a, b, 1);
  // Both edges into the sink are full, so nothing is left on the source's side.
  const std::vector<bool> with_source = cut.solve(1000);
  EXPECT_TRUE(with_source[MinCut::kSource]);
  EXPECT_FALSE(with_source[static_cast<std::size_t>(a)]);
  EXPECT_FALSE(with_source[static_cast<std::size_t>(b)]);
}

TEST(MinCut, LeavesTheSourceAloneWhereStepsRunOut) {
  const auto solve = [](std::int64_t max_steps) {
    MinCut cut;
    const int a = cut.add_vertex();
    cut.add_edge(MinCut::kSource, a, 5);
    cut.add_edge(a, MinCut::kSink, 2);
    return cut.solve(max_steps);
  };

  EXPECT_EQ(solve(1000), (std::vector<bool>{true, false, true}));
  EXPECT_EQ(solve(1), (std::vector<bool>{true, false, false}));
}

}  // namespace
}  // namespace saccade
