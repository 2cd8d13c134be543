#include <algorithm>

#include "ops/layers/strided_attention.hpp"
#include "passes/rewrite.hpp"

namespace saccade {
namespace {

using test::GraphBuilder;
using test::last_node;
using test::operators;
using Integers = std::vector<std::int64_t>;

const Integers kHeadsFirst = {0, 2, 1, 3};

std::int64_t fuse(Graph& graph) {
  return test::rewrite(graph, "fuse_attention", {.target = {.fuses_attention = true}});
}

ValueId transpose(GraphBuilder& b, ValueId x, const Integers& order) {
  return b.op("Transpose", {x}, {{"perm", order}});
}
ValueId softmax(GraphBuilder& b, ValueId x) { return b.op("Softmax", {x}, {{"axis", std::int64_t{-1}}}); }
ValueId slice(GraphBuilder& b, ValueId x, std::int64_t axis, std::int64_t from, std::int64_t to) {
  return b.op("Slice", {x, b.ints({from}), b.ints({to}), b.ints({axis})});
}
ValueId gather(GraphBuilder& b, ValueId x, std::int64_t index) {
  return b.op("Gather", {x, b.constant(Tensor::scalar(index))}, {{"axis", std::int64_t{0}}});
}

/// How many operands the attention reads straight from VALUE.
std::int64_t reads(const Node& node, ValueId value) { return std::ranges::count(node.inputs, value); }

TEST(FuseAttention, TakesHeadsFromOneProductAndPutsOutputsBack) {
  GraphBuilder b;
  const ValueId qkv = b.input("qkv", {2, 7, 3 * 4 * 6});
  const ValueId heads = transpose(b, b.op("Reshape", {qkv, b.ints({2, 7, 3, 4, 6})}), {2, 0, 3, 1, 4});
  const ValueId q = b.op("Mul", {gather(b, heads, 0), b.scalar(0.5F)});
  const ValueId k = transpose(b, gather(b, heads, 1), {0, 1, 3, 2});
  const ValueId products = b.op("MatMul", {softmax(b, b.op("MatMul", {q, k})), gather(b, heads, -1)});
  const ValueId joined = b.op("Reshape", {transpose(b, products, kHeadsFirst), b.ints({2, 7, 24})});
  Graph graph = b.build({b.op("Relu", {joined})});

  EXPECT_EQ(fuse(graph), 1);
  EXPECT_EQ(operators(graph), "StridedAttention Relu");
  const Node& node = *graph.producer(last_node(graph).inputs[0]);
  EXPECT_EQ(reads(node, qkv), 3);
  EXPECT_EQ(node.attributes.real("scale", 1), 0.5F);
  const AttentionPatterns patterns = attention_patterns(graph, node);
  EXPECT_EQ(patterns.query.loops[0], (AccessPattern::Loop{{2, 7 * 72}, {4, 6}}));
  EXPECT_EQ(patterns.key.offset, 24);
  EXPECT_EQ(patterns.value.loops[1], (AccessPattern::Loop{{7, 72}}));
  EXPECT_EQ(patterns.output.loops[0], (AccessPattern::Loop{{2, 7 * 24}, {4, 6}}));
}

TEST(FuseAttention, LeavesEmptySumsAndDoubles) {
  const auto patches = [](DType dtype, std::int64_t channels) {
    GraphBuilder b;
    const ValueId q = b.input("q", {2, 3, channels}, dtype);
    const ValueId k = b.input("k", {2, channels, 5}, dtype);
    const ValueId v = b.input("v", {2, 5, 4}, dtype);
    Graph graph = b.build({b.op("Relu", {b.op("MatMul", {softmax(b, b.op("MatMul", {q, k})), v})})});
    return fuse(graph);
  };
  EXPECT_EQ(patches(DType::kFloat32, 6), 1);
  EXPECT_EQ(patches(DType::kFloat32, 0), 0);
  EXPECT_EQ(patches(DType::kFloat64, 6), 0);
}

TEST(LowerStridedAttention, GathersMatricesAndPutsOutputsBack) {
  for (const bool masked : {false, true}) {
    GraphBuilder b;
    const ValueId qkv = b.input("qkv", {2, 7, 3 * 4 * 6});
    const ValueId heads = transpose(b, b.op("Reshape", {qkv, b.ints({2, 7, 3, 4, 6})}), {2, 0, 3, 1, 4});
    const ValueId k = transpose(b, gather(b, heads, 1), {0, 1, 3, 2});
    ValueId scores = b.op("Mul", {b.op("MatMul", {gather(b, heads, 0), k}), b.scalar(0.3F)});
    if (masked) scores = b.op("Add", {scores, b.input("mask", {2, 1, 1, 7})});
    const ValueId products = transpose(b, b.op("MatMul", {softmax(b, scores), gather(b, heads, -1)}), kHeadsFirst);
    Graph graph = b.build({b.op("Relu", {b.op("Reshape", {products, b.ints({2, 7, 24})})})});
    ASSERT_EQ(fuse(graph), 1);
    const auto lower = [&](bool fuses) {
      return test::rewrite(graph, "lower_strided_attention", {.target = {.fuses_attention = fuses}});
    };
    EXPECT_EQ(lower(true), 0) << "there is a kernel for it";
    EXPECT_EQ(lower(false), 1);
    const std::string mask = masked ? "Reshape Gather Add " : "";
    EXPECT_EQ(operators(graph),
              "Reshape Gather Reshape Gather MatMul Mul " + mask + "Softmax Reshape Gather MatMul Reshape Gather Relu");
  }
}

TEST(FuseAttention, TakesScalesOnBothSidesBehindAndWithADivision) {
  GraphBuilder b;
  const auto scaled = [&](ValueId x) { return b.op("Mul", {b.scalar(0.5F), x}); };
  const ValueId q = scaled(transpose(b, b.input("q", {1, 5, 2, 8}), kHeadsFirst));
  const ValueId k = scaled(transpose(b, b.input("k", {1, 9, 2, 8}), {0, 2, 3, 1}));
  const ValueId scores = b.op("Div", {b.op("MatMul", {q, k}), b.scalar(4)});
  Graph graph = b.build({b.op("MatMul", {softmax(b, scores), b.input("v", {1, 2, 9, 3})})});

  EXPECT_EQ(fuse(graph), 1);
  EXPECT_EQ(operators(graph), "StridedAttention");
  EXPECT_FLOAT_EQ(last_node(graph).attributes.real("scale", 1), 0.0625F);
}

TEST(FuseAttention, TakesWeightsThatStandOnTheRight) {
  GraphBuilder b;
  const ValueId qkv = b.input("qkv", {1, 2 * (4 + 4 + 6), 3, 5});
  const ValueId heads = b.op("Reshape", {qkv, b.ints({1, 2, 14, 15})});
  const auto parts = b.multi("Split", {heads, b.ints({4, 4, 6})}, 3, {{"axis", std::int64_t{2}}});
  const ValueId scores = b.op("MatMul", {transpose(b, parts[0], {0, 1, 3, 2}), parts[1]});
  const ValueId weights = transpose(b, softmax(b, b.op("Mul", {scores, b.scalar(0.3F)})), {0, 1, 3, 2});
  const ValueId products = b.op("Reshape", {b.op("MatMul", {parts[2], weights}), b.ints({1, 12, 3, 5})});
  Graph graph = b.build({b.op("Add", {products, b.op("Reshape", {parts[2], b.ints({1, 12, 3, 5})})})});

  EXPECT_EQ(fuse(graph), 1);
  EXPECT_EQ(operators(graph), "Reshape Split Reshape StridedAttention Add");
  EXPECT_EQ(reads(*graph.producer(last_node(graph).inputs[0]), qkv), 3);
}

TEST(FuseAttention, TakesAreasOfAnImage) {
  GraphBuilder b;
  const auto rows = [&](ValueId x, std::int64_t channels) {
    const ValueId flat = transpose(b, b.op("Reshape", {x, b.ints({1, channels, 24})}), {0, 2, 1});
    return b.op("Reshape", {flat, b.ints({4, 6, channels})});
  };
  const auto heads = [&](ValueId x) { return b.op("Reshape", {transpose(b, x, {0, 2, 1}), b.ints({4, 2, 5, 6})}); };
  const ValueId qk = b.input("qk", {1, 20, 4, 6});
  const ValueId both = rows(qk, 20);
  const ValueId value = b.input("v", {1, 10, 4, 6});
  const ValueId q = transpose(b, heads(slice(b, both, 2, 0, 10)), {0, 1, 3, 2});
  const ValueId scores = b.op("MatMul", {q, heads(slice(b, both, 2, 10, 20))});
  const ValueId weights = transpose(b, softmax(b, scores), {0, 1, 3, 2});
  const ValueId products = transpose(b, b.op("MatMul", {heads(rows(value, 10)), weights}), {0, 3, 1, 2});
  const ValueId map = b.op("Reshape", {products, b.ints({1, 4, 6, 10})});
  Graph graph = b.build({transpose(b, map, {0, 3, 1, 2})});

  EXPECT_EQ(fuse(graph), 1);
  EXPECT_EQ(operators(graph), "StridedAttention");
  EXPECT_EQ(reads(last_node(graph), qk), 2);
  EXPECT_EQ(reads(last_node(graph), value), 1);
}

TEST(FuseAttention, TakesHeadsAndBatchesAsOneDimension) {
  GraphBuilder b;
  const auto heads = [&](ValueId x, std::int64_t tokens) {
    return transpose(b, b.op("Reshape", {x, b.ints({tokens, 6, 4})}), {1, 0, 2});
  };
  const ValueId q = b.input("q", {5, 2, 12});
  const ValueId k = b.input("k", {7, 2, 12});
  const ValueId v = b.input("v", {7, 2, 12});
  const ValueId scores = b.op("MatMul", {heads(q, 5), transpose(b, heads(k, 7), {0, 2, 1})});
  const ValueId products = transpose(b, b.op("MatMul", {softmax(b, scores), heads(v, 7)}), {1, 0, 2});
  Graph graph = b.build({b.op("Reshape", {products, b.ints({10, 12})})});

  EXPECT_EQ(fuse(graph), 1);
  EXPECT_EQ(operators(graph), "StridedAttention");
  EXPECT_EQ(last_node(graph).inputs, (std::vector<ValueId>{q, k, v}));
}

TEST(FuseAttention, TakesMasks) {
  for (const Shape& shape : {Shape{5, 7}, Shape{2, 1, 5, 7}, Shape{1, 3, 1, 7}, Shape{7}}) {
    GraphBuilder b;
    const ValueId product = b.op("MatMul", {b.input("q", {2, 3, 5, 4}), b.input("k", {2, 3, 4, 7})});
    const ValueId scores = b.op("Add", {b.input("mask", shape), b.op("Mul", {product, b.scalar(0.5F)})});
    Graph graph = b.build({b.op("MatMul", {softmax(b, scores), b.input("v", {2, 3, 7, 4})})});

    EXPECT_EQ(fuse(graph), 1) << shape.to_string();
    EXPECT_EQ(operators(graph), "StridedAttention");
  }
}

TEST(FuseAttention, TakesQueriesThatShareKeysAndWeightsMadeTheOtherWayRound) {
  GraphBuilder b;
  const ValueId q = b.op("Reshape", {b.input("q", {1, 6, 5, 4}), b.ints({1, 2, 15, 4})});
  const ValueId scores = b.op("Reshape", {b.op("MatMul", {q, b.input("k", {1, 2, 4, 7})}), b.ints({1, 6, 5, 7})});
  const ValueId weights = b.op("Reshape", {softmax(b, scores), b.ints({1, 2, 15, 7})});
  const ValueId shared = b.op("MatMul", {weights, b.input("v", {1, 2, 7, 3})});
  // Keys times queries, and a Softmax over the rows.
  const ValueId turned = b.op("MatMul", {b.input("keys", {2, 7, 4}), b.input("queries", {2, 4, 5})});
  const ValueId column = b.op("Softmax", {turned}, {{"axis", std::int64_t{1}}});
  Graph graph = b.build({shared, b.op("MatMul", {b.input("values", {2, 3, 7}), column})});

  EXPECT_EQ(fuse(graph), 2);
  EXPECT_EQ(operators(graph), "StridedAttention StridedAttention");
}

TEST(FuseAttention, LeavesMovedHeadsWithoutAnAccessPattern) {
  GraphBuilder b;
  // Windows of 2 by 2 of an image of 4 by 4: tokens are affine in two dimensions, channels in one.
  const ValueId image = b.input("x", {1, 4, 4, 6});
  const ValueId windows = transpose(b, b.op("Reshape", {image, b.ints({1, 2, 2, 2, 2, 6})}), {0, 1, 3, 2, 4, 5});
  const ValueId tokens = b.op("Reshape", {windows, b.ints({4, 4, 6})});
  const ValueId scores = b.op("MatMul", {tokens, transpose(b, tokens, {0, 2, 1})});
  // Permuted channels are not affine.
  const ValueId value = b.op("Reshape", {transpose(b, b.input("v", {4, 4, 3, 2}), {0, 1, 3, 2}), b.ints({4, 4, 6})});
  Graph graph = b.build({b.op("MatMul", {softmax(b, scores), value})});

  EXPECT_EQ(fuse(graph), 1);
  EXPECT_EQ(operators(graph), "Transpose StridedAttention");
  EXPECT_EQ(reads(last_node(graph), image), 2);
  EXPECT_EQ(attention_patterns(graph, last_node(graph)).query.loops[1].size(), 2U);
}

/// A plain attention, and what its SCORES, weights and values become before they go on.
template <typename Scores, typename Weights>
std::int64_t fused_with(const Scores& of_scores, const Weights& of_weights, std::int64_t channels = 4) {
  GraphBuilder b;
  const ValueId product = b.op("MatMul", {b.input("q", {2, 5, channels}), b.input("k", {2, channels, 7})});
  const ValueId weights = softmax(b, of_scores(b, product));
  std::vector<ValueId> outputs = {b.op("MatMul", {of_weights(b, weights), b.input("v", {2, 7, 4})})};
  if (channels == 5) outputs.push_back(weights);
  Graph graph = b.build(outputs);
  return fuse(graph);
}

TEST(FuseAttention, KeepsOtherPatterns) {
  const auto same = [](GraphBuilder&, ValueId x) { return x; };
  EXPECT_EQ(fused_with(same, same), 1);
  EXPECT_EQ(fused_with(same, same, 5), 0) << "weights that are an output";
  EXPECT_EQ(fused_with(same, same, 300), 0) << "too many channels";
  EXPECT_EQ(fused_with([](GraphBuilder& b, ValueId x) { return b.op("Tanh", {x}); }, same), 0);
  EXPECT_EQ(fused_with(same, [](GraphBuilder& b, ValueId x) { return b.op("Mul", {x, b.scalar(2)}); }), 0);
  const auto masked_before = [](GraphBuilder& b, ValueId x) {
    return b.op("Mul", {b.op("Add", {x, b.random({5, 7})}), b.scalar(2)});
  };
  EXPECT_EQ(fused_with(masked_before, same), 0);
  const auto scaled_by_key = [](GraphBuilder& b, ValueId x) { return b.op("Mul", {x, b.random({7})}); };
  EXPECT_EQ(fused_with(scaled_by_key, same), 0);
}

TEST(FuseAttention, KeepsASoftmaxOverQueriesAndBackendsThatAskForNone) {
  GraphBuilder b;
  const ValueId product = b.op("MatMul", {b.input("q", {2, 5, 4}), b.input("k", {2, 4, 5})});
  const ValueId weights = b.op("Softmax", {product}, {{"axis", std::int64_t{1}}});
  Graph graph = b.build({b.op("MatMul", {weights, b.input("v", {2, 5, 4})})});
  EXPECT_EQ(fuse(graph), 0);

  GraphBuilder plain;
  const ValueId scores = plain.op("MatMul", {plain.input("q", {2, 5, 4}), plain.input("k", {2, 4, 5})});
  Graph unused = plain.build({plain.op("MatMul", {softmax(plain, scores), plain.input("v", {2, 5, 4})})});
  EXPECT_EQ(test::rewrite(unused, "fuse_attention"), 0);
}

}  // namespace
}  // namespace saccade
