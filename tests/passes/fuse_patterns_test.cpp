#include "passes/rewrite.hpp"

namespace saccade {
namespace {

using test::GraphBuilder;
using test::operators;
using test::rewrite;

constexpr float kRoot2 = 1.41421356F;

/// 1 + Erf(x / DIVISOR).
ValueId error_term(GraphBuilder& b, ValueId x, float divisor = kRoot2) {
  return b.op("Add", {b.op("Erf", {b.op("Div", {x, b.scalar(divisor)})}), b.scalar(1)});
}

TEST(FuseGelu, FiresInTheOrdersOfExporters) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2, 3});
  const ValueId half_last = b.op("Mul", {b.op("Mul", {x, error_term(b, x)}), b.scalar(0.5F)});
  const ValueId half_first = b.op("Mul", {b.op("Mul", {b.scalar(0.5F), x}), error_term(b, x)});
  const ValueId erf = b.op("Erf", {b.op("Mul", {x, b.scalar(1 / kRoot2)})});
  const ValueId half_inside = b.op("Mul", {x, b.op("Mul", {b.op("Add", {b.scalar(1), erf}), b.scalar(0.5F)})});
  Graph graph = b.build({half_last, half_first, half_inside});

  EXPECT_EQ(rewrite(graph, "fuse_gelu"), 3);
  EXPECT_EQ(operators(graph), "Gelu Gelu Gelu");
}

TEST(FuseGelu, KeepsAnotherDivisorFactorOrGate) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2, 3});
  const ValueId y = b.input("y", {2, 3});
  const ValueId divisor = b.op("Mul", {b.op("Mul", {x, error_term(b, x, 1.5F)}), b.scalar(0.5F)});
  const ValueId factor = b.op("Mul", {b.op("Mul", {x, error_term(b, x)}), b.scalar(0.25F)});
  const ValueId gate = b.op("Mul", {b.op("Mul", {y, error_term(b, x)}), b.scalar(0.5F)});
  Graph graph = b.build({divisor, factor, gate});
  EXPECT_EQ(rewrite(graph, "fuse_gelu"), 0);
}

TEST(FuseHardSwish, FiresInBothOperandOrders) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2, 3});
  const auto gate = [&](ValueId of) { return b.op("HardSigmoid", {of}, {{"alpha", 1.0F / 6}, {"beta", 0.5F}}); };
  const ValueId left = b.op("Mul", {x, gate(x)});
  Graph graph = b.build({b.op("Mul", {gate(left), left})});

  EXPECT_EQ(rewrite(graph, "fuse_hard_swish"), 2);
  EXPECT_EQ(operators(graph), "HardSwish HardSwish");
}

TEST(FuseHardSwish, KeepsAHardSigmoidOfAnotherSlope) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2, 3});
  Graph graph = b.build({b.op("Mul", {x, b.op("HardSigmoid", {x})})});
  EXPECT_EQ(rewrite(graph, "fuse_hard_swish"), 0);
}

ValueId softmax_by_hand(GraphBuilder& b, ValueId x, std::int64_t max_axis, std::int64_t sum_axis) {
  const ValueId shifted = b.op("Sub", {x, b.op("ReduceMax", {x, b.ints({max_axis})})});
  const ValueId exponent = b.op("Exp", {shifted});
  return b.op("Div", {exponent, b.op("ReduceSum", {exponent, b.ints({sum_axis})})});
}

TEST(FuseSoftmax, FiresWhereMaximumAndSumRunAlongOneDimension) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2, 3, 4});
  Graph graph = b.build({softmax_by_hand(b, x, 2, -1), softmax_by_hand(b, x, 1, 1)});

  EXPECT_EQ(rewrite(graph, "fuse_softmax"), 2);
  EXPECT_EQ(operators(graph), "Softmax Softmax");
}

TEST(FuseSoftmax, KeepsASumAlongAnotherDimensionAndOneWithoutMaximum) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2, 3, 4});
  const ValueId exponent = b.op("Exp", {x});
  const ValueId plain = b.op("Div", {exponent, b.op("ReduceSum", {exponent, b.ints({2})})});
  Graph graph = b.build({softmax_by_hand(b, x, 2, 1), plain});
  EXPECT_EQ(rewrite(graph, "fuse_softmax"), 0);
}

}  // namespace
}  // namespace saccade
