#include "passes/rewrite.hpp"

namespace saccade {
namespace {

using test::GraphBuilder;
using test::operators;

std::int64_t narrow(Graph& graph, DType to = DType::kFloat16) {
  return test::rewrite(graph, "narrow_floats", {.narrow_to = to});
}

DType type_of(const Graph& graph, const std::string& op, std::size_t input) {
  for (NodeId id : graph.order())
    if (graph.node(id).op == op) return graph.value(graph.node(id).inputs[input]).type.dtype;
  return DType::kFrame;
}

TEST(NarrowFloats, HalvesWhatLeadsToAProductAndKeepsWhatFollowsTheLast) {
  for (DType to : {DType::kFloat16, DType::kBFloat16}) {
    GraphBuilder b;
    const ValueId x = b.input("x", {1, 3, 6, 6});
    const ValueId first = b.op("Relu", {b.op("Conv", {x, b.random({4, 3, 3, 3})})});
    const ValueId second = b.op("Conv", {first, b.random({2, 4, 1, 1})});
    Graph graph = b.build({b.op("Exp", {second})});
    EXPECT_EQ(narrow(graph, to), 1);
    EXPECT_EQ(operators(graph), "Cast Conv Relu Conv Cast Exp") << "weights are rounded at once";
    EXPECT_EQ(type_of(graph, "Relu", 0), to);
    EXPECT_EQ(type_of(graph, "Exp", 0), DType::kFloat32);
    EXPECT_EQ(graph.value(graph.outputs()[0]).type.dtype, DType::kFloat32);
  }
}

TEST(NarrowFloats, KeepsWherePicturesAreSampled) {
  GraphBuilder b;
  const ValueId x = b.op("Conv", {b.input("x", {1, 3, 6, 6}), b.random({4, 3, 1, 1})});
  const ValueId grid = b.op("Tanh", {b.input("grid", {1, 5, 5, 2})});
  const ValueId sampled = b.op("GridSample", {x, grid});
  Graph graph = b.build({b.op("Conv", {sampled, b.random({2, 4, 1, 1})})});
  EXPECT_EQ(narrow(graph), 1);
  EXPECT_EQ(type_of(graph, "Tanh", 0), DType::kFloat32);
  EXPECT_EQ(type_of(graph, "GridSample", 0), DType::kFloat16);
  EXPECT_EQ(type_of(graph, "GridSample", 1), DType::kFloat32);
}

TEST(NarrowFloats, LeavesNetworksWithoutProductsAlone) {
  GraphBuilder b;
  Graph graph = b.build({b.op("Exp", {b.op("Sigmoid", {b.input("x", {2, 3})})})});
  EXPECT_EQ(narrow(graph), 0);
}

TEST(NarrowFloats, DoesNothingUnlessAsked) {
  GraphBuilder b;
  Graph graph = b.build({b.op("MatMul", {b.input("x", {2, 3}), b.random({3, 4})})});
  EXPECT_EQ(test::rewrite(graph, "narrow_floats"), 0);
}

}  // namespace
}  // namespace saccade
