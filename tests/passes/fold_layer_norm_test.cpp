#include "passes/rewrite.hpp"

namespace saccade {
namespace {

using test::GraphBuilder;
using test::last_node;
using test::operators;

PassOptions options() {
  return {
      .target = {.has_kernel = [](const Graph&, const Node& node) { return node.is("NormalizedProduct", "saccade"); }}};
}
std::int64_t fold(Graph& graph) { return test::rewrite(graph, "fold_layer_norm", options()); }

ValueId norm(GraphBuilder& b, ValueId x, std::int64_t channels, std::int64_t axis = -1) {
  return b.op("LayerNormalization", {x, b.random({channels}, 0.5F, 2), b.random({channels})},
              {{"axis", axis}, {"epsilon", 1e-3F}});
}
/// Something that makes rows, so that they are no input.
ValueId rows(GraphBuilder& b, const Shape& shape) { return b.op("Neg", {b.input("x", shape)}); }

TEST(FoldLayerNorm, GoesIntoAllProductsThatReadIt) {
  GraphBuilder b;
  const ValueId x = norm(b, rows(b, {2, 3, 8}), 8);
  const ValueId q = b.op("MatMul", {x, b.random({8, 5})});
  const ValueId k = b.op("MatMul", {x, b.random({8, 5}), b.random({5})});
  Graph graph = b.build({b.op("Add", {q, k})});

  EXPECT_EQ(fold(graph), 1);
  EXPECT_EQ(operators(graph), "Neg NormalizedProduct NormalizedProduct Add");
  EXPECT_EQ(graph.producer(last_node(graph).inputs[0])->attributes.real("epsilon", 0), 1e-3F);
}

TEST(FoldLayerNorm, PassesViewsAndKeepsPostOps) {
  GraphBuilder b;
  const ValueId flat = b.op("Reshape", {norm(b, rows(b, {2, 3, 8}), 8), b.ints({6, 8})});
  const ValueId product = b.op("Gemm", {flat, b.random({5, 8}), b.random({5}), b.input("other", {6, 5})},
                               {{"transB", std::int64_t{1}}, {"alpha", 0.5F}, {"beta", 2.0F}});
  b.graph().node(b.graph().value(product).producer).post_ops = {{.op = "Add", .operand = 3}, {.op = "Relu"}};
  Graph graph = b.build({product});

  EXPECT_EQ(fold(graph), 1);
  EXPECT_EQ(operators(graph), "Neg Reshape NormalizedProduct|Add|Relu");
  EXPECT_EQ(last_node(graph).post_ops[0].operand, 5);
}

TEST(FoldLayerNorm, StaysWhereItsRowsAreNeeded) {
  GraphBuilder b;
  const ValueId x = norm(b, rows(b, {3, 8}), 8);
  Graph residual = b.build({b.op("Add", {b.op("MatMul", {x, b.random({8, 8})}), x})});
  EXPECT_EQ(fold(residual), 0);

  GraphBuilder c;
  const ValueId y = norm(c, rows(c, {3, 8}), 8);
  Graph output = c.build({c.op("MatMul", {y, c.random({8, 8})}), y});
  EXPECT_EQ(fold(output), 0);

  GraphBuilder d;
  const ValueId z = norm(d, rows(d, {2, 4, 8}), 8);
  Graph columns = d.build({d.op("MatMul", {d.op("Reshape", {z, d.ints({2, 8, 4})}), d.random({4, 3})})});
  EXPECT_EQ(fold(columns), 0);
}

TEST(FoldLayerNorm, StaysWhereItIsNoneOfRowsOrNoConstantMultiplies) {
  GraphBuilder b;
  const ValueId x = b.op("LayerNormalization", {rows(b, {3, 4, 8}), b.random({4, 8})}, {{"axis", std::int64_t{1}}});
  Graph planes = b.build({b.op("MatMul", {x, b.random({8, 5})})});
  EXPECT_EQ(fold(planes), 0);

  GraphBuilder c;
  const ValueId y = norm(c, rows(c, {3, 8}), 8);
  Graph activations = c.build({c.op("MatMul", {y, c.input("w", {8, 5})})});
  EXPECT_EQ(fold(activations), 0);
}

TEST(FoldLayerNorm, StaysWhereTheBackendHasNoKernel) {
  GraphBuilder b;
  Graph graph = b.build({b.op("MatMul", {norm(b, rows(b, {3, 8}), 8), b.random({8, 5})})});
  EXPECT_EQ(test::rewrite(graph, "fold_layer_norm"), 0);
  EXPECT_EQ(test::rewrite(graph, "fold_layer_norm",
                          {.target = {.has_kernel = [](const Graph&, const Node&) { return false; }}}),
            0);
}

}  // namespace
}  // namespace saccade
