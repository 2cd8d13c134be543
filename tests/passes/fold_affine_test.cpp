#include <limits>

#include "passes/rewrite.hpp"

namespace saccade {
namespace {

using test::GraphBuilder;
using test::operators;
using test::rewrite;

ValueId batch_norm(GraphBuilder& b, ValueId x, std::int64_t channels) {
  return b.op("BatchNormalization",
              {x, b.random({channels}), b.random({channels}), b.random({channels}), b.random({channels}, 0.5F, 2)});
}

TEST(FoldBatchNorm, GoesIntoTheConvolutionBeforeIt) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 1, 2, 2});
  const ValueId conv = b.op("Conv", {x, b.floats({1, 1, 1, 1}, {3})});
  // gamma 2, beta 1, mean 4, variance 1: y = 2 * (3x - 4) + 1 = 6x - 7.
  const ValueId norm =
      b.op("BatchNormalization", {conv, b.floats({1}, {2}), b.floats({1}, {1}), b.floats({1}, {4}), b.floats({1}, {1})},
           {{"epsilon", 0.0F}});
  Graph graph = b.build({norm});

  EXPECT_EQ(rewrite(graph, "fold_batch_norm"), 1);

  EXPECT_EQ(operators(graph), "Conv");
  const Node& folded = test::last_node(graph);
  EXPECT_EQ(folded.name, "Conv0");
  EXPECT_EQ(graph.constant(folded.inputs[1])->data<float>()[0], 6);
  EXPECT_EQ(graph.constant(folded.inputs[2])->data<float>()[0], -7);
}

TEST(FoldBatchNorm, KeepsResultsBehindGroupsTransposedConvolutionsAndGemm) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2, 4, 3, 3});
  const ValueId conv = b.op("Conv", {x, b.random({6, 2, 3, 3}), b.random({6})}, {{"group", std::int64_t{2}}});
  const ValueId transposed =
      b.op("ConvTranspose", {x, b.random({4, 3, 2, 2}), b.random({6})}, {{"group", std::int64_t{2}}});
  const ValueId v = b.input("v", {2, 5});
  const ValueId gemm = b.op("Gemm", {v, b.random({6, 5}), b.random({6})},
                            {{"transB", std::int64_t{1}}, {"alpha", 0.5F}, {"beta", 2.0F}});
  const ValueId wide = b.op("Gemm", {v, b.random({5, 6})});
  Graph graph =
      b.build({batch_norm(b, conv, 6), batch_norm(b, transposed, 6), batch_norm(b, gemm, 6), batch_norm(b, wide, 6)});

  EXPECT_EQ(rewrite(graph, "fold_batch_norm"), 4);
  EXPECT_EQ(operators(graph), "Conv ConvTranspose Gemm Gemm");
}

TEST(FoldBatchNorm, BecomesMulAndAddWhereTheConvolutionHasAnotherReader) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 2, 3, 3});
  const ValueId conv = b.op("Conv", {x, b.random({2, 2, 1, 1})});
  Graph graph = b.build({batch_norm(b, conv, 2), b.op("Relu", {conv})});

  EXPECT_EQ(rewrite(graph, "fold_batch_norm"), 1);
  EXPECT_EQ(operators(graph), "Conv Relu Mul Add");
}

TEST(FoldBatchNorm, KeepsOneWhoseStatisticsAreInputs) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 2, 3, 3});
  const ValueId mean = b.input("mean", {2});
  const ValueId norm = b.op("BatchNormalization", {x, b.random({2}), b.random({2}), mean, b.random({2}, 0.5F, 2)});
  Graph graph = b.build({norm});
  EXPECT_EQ(rewrite(graph, "fold_batch_norm"), 0);
}

TEST(FoldBias, GoesIntoConvolutionAndMatMul) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 2, 3, 3});
  const ValueId conv = b.op("Add", {b.op("Conv", {x, b.random({4, 2, 1, 1})}), b.random({1, 4, 1, 1})});
  const ValueId t = b.input("t", {2, 3, 5});
  const ValueId matmul = b.op("Sub", {b.op("MatMul", {t, b.random({5, 7})}), b.random({7})});
  Graph graph = b.build({conv, matmul});

  EXPECT_EQ(rewrite(graph, "fold_bias"), 2);

  EXPECT_EQ(operators(graph), "Conv MatMul");
  EXPECT_EQ(test::last_node(graph).inputs.size(), 3U);
}

TEST(FoldBias, KeepsAnAddThatVariesAlongAnotherDimension) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 2, 3, 3});
  const ValueId rows = b.op("Add", {b.op("Conv", {x, b.random({3, 2, 1, 1})}), b.random({3, 1})});
  const ValueId t = b.input("t", {3, 5});
  const ValueId tokens = b.op("Add", {b.op("MatMul", {t, b.random({5, 3})}), b.random({3, 1})});
  Graph graph = b.build({rows, tokens});
  EXPECT_EQ(rewrite(graph, "fold_bias"), 0);
}

TEST(FoldBias, KeepsAnAddThatWidensTheProduct) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 2, 3, 3});
  Graph graph = b.build({b.op("Add", {b.op("Conv", {x, b.random({1, 2, 1, 1})}), b.random({1, 4, 1, 1})})});
  EXPECT_EQ(rewrite(graph, "fold_bias"), 0);
}

TEST(FoldScale, GoesIntoWeightsAndBias) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 2, 3, 3});
  const ValueId conv = b.op("Conv", {x, b.random({4, 2, 1, 1}), b.random({4})});
  const ValueId scaled = b.op("Mul", {b.random({4, 1, 1}), conv});
  const ValueId t = b.input("t", {2, 5});
  const ValueId divided = b.op("Div", {b.op("MatMul", {t, b.random({5, 7})}), b.scalar(8)});
  Graph graph = b.build({scaled, divided});

  EXPECT_EQ(rewrite(graph, "fold_scale"), 2);
  EXPECT_EQ(operators(graph), "Conv MatMul");
}

TEST(FoldScale, KeepsAMulWhoseWeightsAreNoConstants) {
  GraphBuilder b;
  const ValueId q = b.input("q", {3, 5});
  const ValueId k = b.input("k", {5, 4});
  Graph graph = b.build({b.op("Mul", {b.op("MatMul", {q, k}), b.scalar(0.5F)}),
                         b.op("Div", {b.scalar(1), b.op("MatMul", {q, b.random({5, 2})})})});
  EXPECT_EQ(rewrite(graph, "fold_scale"), 0);
}

/// A convolution with POST, then BINARY with a scalar.
std::vector<PostOp> behind_clip(const PostOp& post, const char* binary, float scalar, bool is_first = false) {
  GraphBuilder b;
  const ValueId conv = b.op("Conv", {b.input("x", {1, 3, 5, 4}), b.random({4, 3, 3, 3}), b.random({4})});
  b.graph().node(b.graph().value(conv).producer).post_ops = {post};
  const ValueId number = b.scalar(scalar);
  Graph graph = b.build({b.op("Neg", {is_first ? b.op(binary, {number, conv}) : b.op(binary, {conv, number})})});
  if (rewrite(graph, "fold_behind_clip") == 0) return {};
  return graph.producer(test::last_node(graph).inputs[0])->post_ops;
}

TEST(FoldBehindClip, MovesTheBounds) {
  const PostOp relu{.op = "Relu"};
  const PostOp clip{.op = "Clip", .alpha = -0.5F, .beta = 1};
  constexpr float kMost = std::numeric_limits<float>::max();
  const auto expect_clip = [](const std::vector<PostOp>& posts, float low, float high) {
    ASSERT_EQ(posts.size(), 1U);
    EXPECT_EQ(posts[0].op, "Clip");
    EXPECT_EQ(posts[0].alpha, low);
    EXPECT_EQ(posts[0].beta, high);
  };
  ASSERT_EQ(behind_clip(relu, "Mul", 3).size(), 1U);
  EXPECT_EQ(behind_clip(relu, "Mul", 3)[0].op, "Relu");
  expect_clip(behind_clip(relu, "Add", 0.25F), 0.25F, kMost);
  expect_clip(behind_clip(relu, "Mul", -2), -kMost, 0);
  expect_clip(behind_clip(relu, "Sub", 0.5F, true), -kMost, 0.5F);
  expect_clip(behind_clip(clip, "Mul", -2, true), -2, 1);
  expect_clip(behind_clip(clip, "Div", 4), -0.125F, 0.25F);
  expect_clip(behind_clip(clip, "Sub", 1), -1.5F, 0);
}

TEST(FoldBehindClip, StaysWhereItMay) {
  EXPECT_TRUE(behind_clip({.op = "Relu"}, "Mul", 0).empty());
  EXPECT_TRUE(behind_clip({.op = "Silu"}, "Mul", 2).empty());

  GraphBuilder per_channel;
  const ValueId x = per_channel.input("x", {1, 3, 5, 4});
  const ValueId conv = per_channel.op("Conv", {x, per_channel.random({4, 3, 1, 1})});
  per_channel.graph().node(per_channel.graph().value(conv).producer).post_ops = {{.op = "Relu"}};
  Graph graph = per_channel.build({per_channel.op("Add", {conv, per_channel.random({1, 4, 1, 1})})});
  EXPECT_EQ(rewrite(graph, "fold_behind_clip"), 0) << "there is one bound for all channels";
}

}  // namespace
}  // namespace saccade
