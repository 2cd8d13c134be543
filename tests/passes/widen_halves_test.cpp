#include <algorithm>

#include "passes/rewrite.hpp"
#include "tensor/half.hpp"

namespace saccade {
namespace {

using test::GraphBuilder;
using test::operators;

std::int64_t widen(Graph& graph) { return test::rewrite(graph, "widen_halves", {.target = {.half_precision = false}}); }

ValueId half(GraphBuilder& b, const std::string& name, const Shape& shape, DType dtype = DType::kFloat16) {
  return b.input(name, shape, dtype);
}

ValueId half_weights(GraphBuilder& b, const Shape& shape) {
  const Tensor floats = test::random_tensor(shape, 7);
  Tensor narrow(DType::kFloat16, shape);
  std::ranges::transform(floats.data<float>(), narrow.data<Float16>().begin(), [](float x) { return Float16(x); });
  return b.constant(std::move(narrow));
}

TEST(WidenHalves, KeepsANetworkInFloat32BetweenItsEnds) {
  GraphBuilder b;
  const ValueId x = half(b, "x", {1, 3, 6, 6});
  const ValueId conv = b.op("Conv", {x, half_weights(b, {4, 3, 3, 3})});
  const ValueId relu = b.op("Relu", {conv});
  Graph graph = b.build({b.op("Add", {relu, conv})});
  const std::string output = graph.value(graph.outputs()[0]).name;
  EXPECT_EQ(widen(graph), 1);
  EXPECT_EQ(operators(graph), "Cast Cast Conv Relu Add Cast") << "of the input, the weights and the output";
  EXPECT_EQ(graph.value(graph.outputs()[0]).type.dtype, DType::kFloat16);
  EXPECT_EQ(graph.value(graph.outputs()[0]).name, output);
  EXPECT_EQ(graph.value(test::last_node(graph).inputs[0]).type.dtype, DType::kFloat32);
}

TEST(WidenHalves, CastsOnceForAllReadersOfAHalfPrecisionValue) {
  GraphBuilder b;
  const ValueId x = half(b, "x", {2, 3}, DType::kBFloat16);
  Graph graph = b.build({b.op("Exp", {x}), b.op("Neg", {x})});
  EXPECT_EQ(widen(graph), 1);
  EXPECT_EQ(operators(graph), "Cast Exp Neg Cast Cast");
  EXPECT_EQ(graph.value(graph.outputs()[1]).type.dtype, DType::kBFloat16);
}

TEST(WidenHalves, RoundsWhereTheModelCasts) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2, 3});
  const ValueId narrow = b.op("Cast", {x}, {{"to", std::int64_t{10}}});
  const ValueId sum = b.op("Add", {narrow, narrow});
  Graph graph = b.build({b.op("Cast", {sum}, {{"to", std::int64_t{1}}})});
  EXPECT_EQ(widen(graph), 1);
  EXPECT_EQ(operators(graph), "Cast Cast Add Cast Cast");
}

TEST(WidenHalves, KeepsOtherOutputsTypes) {
  GraphBuilder b;
  const ValueId x = half(b, "x", {2, 8});
  const std::vector<ValueId> best = b.multi("TopK", {x, b.ints({3})}, 2);
  Graph graph = b.build({best[0], best[1], b.op("Less", {x, x})});
  EXPECT_EQ(widen(graph), 1);
  EXPECT_EQ(graph.value(graph.outputs()[0]).type.dtype, DType::kFloat16);
  EXPECT_EQ(graph.value(graph.outputs()[1]).type.dtype, DType::kInt64);
  EXPECT_EQ(graph.value(graph.outputs()[2]).type.dtype, DType::kBool);
}

TEST(WidenHalves, LeavesOtherTypes) {
  GraphBuilder b;
  const ValueId x = half(b, "x", {2, 3});
  const ValueId y = half(b, "y", {2, 3});
  Graph graph = b.build({b.op("Where", {b.op("Less", {x, y}), x, y})});
  EXPECT_EQ(widen(graph), 1);
  EXPECT_EQ(operators(graph), "Cast Cast Less Where Cast");
}

TEST(WidenHalves, LeavesOperatorsThatNameATypeAndBackendsWithHalfPrecision) {
  GraphBuilder b;
  const ValueId x = half(b, "x", {2, 2});
  const ValueId like = b.op("CastLike", {b.input("y", {2, 2}), x});
  Graph graph = b.build({like, b.op("BitCast", {x}, {{"to", std::int64_t{5}}})});
  EXPECT_EQ(widen(graph), 0);

  GraphBuilder other;
  Graph sum = other.build({other.op("Neg", {half(other, "x", {2})})});
  EXPECT_EQ(test::rewrite(sum, "widen_halves"), 0);
  EXPECT_EQ(operators(sum), "Neg");
}

}  // namespace
}  // namespace saccade
