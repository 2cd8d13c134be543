#include "passes/rewrite.hpp"

namespace saccade {
namespace {

using test::GraphBuilder;
using test::operators;
using test::rewrite;
using AttributeList = GraphBuilder::AttributeList;

const AttributeList kCausal = {{"is_causal", std::int64_t{1}}};
const AttributeList kTwoOfFour = {{"q_num_heads", std::int64_t{4}}, {"kv_num_heads", std::int64_t{2}}};

/// An Attention of three queries and five keys in two heads; rewrite() compares its results on random numbers.
struct Case {
  AttributeList attributes = {};
  Shape q{2, 2, 3, 4};
  Shape k{2, 2, 5, 4};
  Shape v{2, 2, 5, 6};

  /// MASK is added to the inputs.
  template <typename Mask>
  std::string lowered(const Mask& mask) const {
    GraphBuilder b;
    std::vector<ValueId> inputs = {b.input("q", q), b.input("k", k), b.input("v", v)};
    if (const ValueId id = mask(b); id != ValueId::kNone) inputs.push_back(id);
    Graph graph = b.build({b.op("Attention", inputs, attributes)});
    return rewrite(graph, "lower_attention") == 0 ? "" : operators(graph);
  }
  std::string lowered() const {
    return lowered([](GraphBuilder&) { return ValueId::kNone; });
  }
};

TEST(LowerAttention, MakesProductsAndASoftmax) {
  EXPECT_EQ(Case{}.lowered(), "Mul Reshape Transpose MatMul Reshape Softmax Reshape MatMul Reshape");
  EXPECT_NE((Case{.attributes = {{"scale", 0.3F}, {"softcap", 1.5F}}}.lowered()), "");
}

TEST(LowerAttention, CutsHeadsAndSharesThoseOfKeys) {
  EXPECT_NE((Case{.attributes = kTwoOfFour, .q = {2, 3, 16}, .k = {2, 5, 8}, .v = {2, 5, 6}}.lowered()), "");
  EXPECT_NE((Case{.q = {2, 6, 3, 4}}.lowered()), "");
}

TEST(LowerAttention, HidesWhatWindowAndMaskHide) {
  EXPECT_NE((Case{.attributes = kCausal}.lowered()), "");
  EXPECT_NE(
      (Case{.attributes = {{"left_window_size", std::int64_t{1}}, {"right_window_size", std::int64_t{1}}}}.lowered()),
      "");
  const auto numbers = [](GraphBuilder& b) { return b.input("mask", {2, 1, 3, 5}); };
  EXPECT_NE(Case{}.lowered(numbers), "");
  EXPECT_NE((Case{.attributes = kCausal}.lowered(numbers)), "");
}

TEST(LowerAttention, GivesZerosWhereAQuerySeesNothing) {
  const float lost = -INFINITY;
  const auto numbers = [&](GraphBuilder& b) { return b.floats({3, 1}, {0, lost, 1}); };
  const auto flags = [](GraphBuilder& b) {
    return b.constant(
        Tensor::of<bool>({2, 1, 1, 5}, {false, false, false, false, false, true, false, true, true, true}));
  };
  const Case one_key{.k = {2, 2, 1, 4}, .v = {2, 2, 1, 6}};
  EXPECT_NE(one_key.lowered(numbers), "");
  EXPECT_NE(Case{}.lowered(flags), "");
  EXPECT_NE((Case{.attributes = kCausal}.lowered(flags)), "");
  // The last of three queries is outside the window of the only key.
  EXPECT_NE(
      (Case{.attributes = {{"left_window_size", std::int64_t{1}}}, .k = {2, 2, 1, 4}, .v = {2, 2, 1, 6}}.lowered()),
      "");
}

TEST(LowerAttention, LeavesCachesAndShortMasks) {
  const auto short_mask = [](GraphBuilder& b) { return b.input("mask", {3, 4}); };
  EXPECT_EQ(Case{}.lowered(short_mask), "");
  GraphBuilder b;
  const ValueId q = b.input("q", {1, 1, 1, 4});
  const ValueId past = b.input("past", {1, 1, 2, 4});
  Graph graph = b.build({b.op("Attention", {q, q, q, ValueId::kNone, past, past})});
  EXPECT_EQ(rewrite(graph, "lower_attention"), 0);
}

TEST(Pipeline, LeavesNothingOfACausalRuleButItsBias) {
  GraphBuilder b;
  const ValueId q = b.input("q", {1, 2, 3, 4});
  Graph graph = b.build({b.op("Attention", {q, q, q}, kCausal)});

  PassOptions options;
  options.check = true;
  run_passes(graph, options);

  EXPECT_EQ(operators(graph), "Mul Transpose MatMul Add Softmax MatMul");
}

}  // namespace
}  // namespace saccade
