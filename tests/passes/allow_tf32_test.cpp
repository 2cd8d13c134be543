#include "ops/core/tf32.hpp"
#include "passes/rewrite.hpp"

namespace saccade {
namespace {

using test::GraphBuilder;
using test::operators;

TEST(AllowTf32, MarksTheModelsProductsOfFloat32) {
  GraphBuilder b;
  const ValueId conv = b.op("Conv", {b.input("x", {1, 3, 6, 6}), b.random({4, 3, 3, 3})});
  const ValueId product = b.op("MatMul", {b.op("Relu", {conv}), b.random({4, 5})});
  Graph graph = b.build({b.op("MatMul", {product, b.random({5, 2})})});
  EXPECT_EQ(test::rewrite(graph, "allow_tf32", {}), 0) << "not requested";
  EXPECT_EQ(test::rewrite(graph, "allow_tf32", {.precision = {.tf32 = true}}), 1);
  EXPECT_EQ(operators(graph), "Conv Relu MatMul MatMul");
  for (NodeId id : graph.order()) EXPECT_EQ(takes_tf32(graph.node(id)), graph.node(id).op != "Relu");
}

TEST(AllowTf32, LeavesTheKeepList) {
  GraphBuilder b;
  const ValueId kept = b.op("MatMul", {b.input("x", {2, 4}), b.random({4, 5})});
  Graph graph = b.build({b.op("MatMul", {kept, b.random({5, 2})})});
  const MixedPrecision precision{.keep_fp32 = {.products = {graph.node(graph.value(kept).producer).name}},
                                 .tf32 = true};
  EXPECT_EQ(test::rewrite(graph, "allow_tf32", {.precision = precision}), 1);
  EXPECT_FALSE(takes_tf32(graph.node(graph.order()[0])));
  EXPECT_TRUE(takes_tf32(graph.node(graph.order()[1])));
}

TEST(AllowTf32, MarksAttention) {
  GraphBuilder b;
  const std::vector<std::int64_t> rows = {0, 0, 1, 1, 4, 8, 8, 1};  // four tokens of eight channels
  const std::vector<ValueId> tokens(3, b.input("x", {4, 8}));
  Graph graph = b.build({b.op("saccade.StridedAttention", tokens,
                              {{"query", rows},
                               {"key", rows},
                               {"value", rows},
                               {"output", rows},
                               {"shape", std::vector<std::int64_t>{4, 8}}})});
  EXPECT_EQ(test::rewrite(graph, "allow_tf32", {.precision = {.tf32 = true}}), 1);
  EXPECT_TRUE(takes_tf32(graph.node(graph.order().front())));
}

TEST(AllowTf32, LeavesPixelsPostProcessingAndOtherTypes) {
  GraphBuilder b;
  const ValueId prediction = b.op("MatMul", {b.input("x", {2, 4}), b.random({4, 5})});
  const ValueId integers = b.op("MatMul", {b.input("y", {2, 4}, DType::kInt32), b.input("z", {4, 2}, DType::kInt32)});
  Graph graph = b.build({prediction, integers});
  graph.node(graph.value(prediction).producer).stage = Stage::kPost;
  EXPECT_EQ(test::rewrite(graph, "allow_tf32", {.precision = {.tf32 = true}}), 0);
}

}  // namespace
}  // namespace saccade
