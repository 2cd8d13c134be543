#include "passes/narrow_floats.hpp"

#include <cmath>
#include <limits>

#include "ops/core/values.hpp"
#include "ops/elementwise/cast.hpp"
#include "ops/interpreter/interpret.hpp"
#include "passes/rewrite.hpp"
#include "tensor/numbers.hpp"

namespace saccade {
namespace {

using test::GraphBuilder;
using test::operators;

std::int64_t narrow(Graph& graph, DType to = DType::kFloat16) {
  return test::rewrite(graph, "narrow_floats", {.precision = {.half = to}});
}

DType type_of(const Graph& graph, const std::string& op, std::size_t input) {
  for (NodeId id : graph.order())
    if (graph.node(id).op == op) return graph.value(graph.node(id).inputs[input]).type.dtype;
  return DType::kFrame;
}

TEST(NarrowFloats, NarrowsWhatLeadsToAProductAndKeepsWhatFollowsTheLast) {
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

TEST(NarrowFloats, KeepsWhatExceedsHalfPrecision) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 3, 6, 6});
  const ValueId first = b.op("Conv", {x, b.random({4, 3, 3, 3})});
  const ValueId second = b.op("Relu", {first});
  const ValueId third = b.op("Conv", {second, b.random({4, 4, 1, 1})});
  Graph graph = b.build({b.op("Conv", {third, b.random({2, 4, 1, 1})})});
  const std::string wide = graph.value(second).name;
  EXPECT_EQ(
      test::rewrite(graph, "narrow_floats", {.precision = {.half = DType::kFloat16, .keep_fp32 = {.values = {wide}}}}),
      1);
  // The node that makes it, and the one that reads it.
  EXPECT_EQ(operators(graph), "Cast Conv Cast Relu Conv Cast Conv Cast");
  EXPECT_EQ(type_of(graph, "Relu", 0), DType::kFloat32);
}

TEST(NarrowFloats, KeepsAProductAlone) {
  GraphBuilder b;
  const ValueId first = b.op("Conv", {b.input("x", {1, 3, 6, 6}), b.random({4, 3, 3, 3})});
  const ValueId kept = b.op("Conv", {first, b.random({4, 4, 1, 1})});
  Graph graph = b.build({b.op("Conv", {kept, b.random({2, 4, 1, 1})})});
  const Fp32KeepList list{.products = {graph.node(graph.value(kept).producer).name}};
  EXPECT_EQ(test::rewrite(graph, "narrow_floats", {.precision = {.half = DType::kBFloat16, .keep_fp32 = list}}), 1);
  EXPECT_EQ(operators(graph), "Cast Conv Cast Conv Cast Conv Cast");
  EXPECT_EQ(graph.value(kept).type.dtype, DType::kFloat32);
}

TEST(NarrowFloats, KeepsReadersOfConstantsBeyondHalfPrecision) {
  const auto type_behind = [](const std::string& op, float constant, DType to) {
    GraphBuilder b;
    const ValueId first = b.op("Conv", {b.input("x", {1, 3, 6, 6}), b.random({4, 3, 3, 3})});
    const ValueId second = b.op(op, {first, b.scalar(constant)});
    Graph graph = b.build({b.op("Conv", {second, b.random({4, 4, 1, 1})})});
    run_passes(graph, {.precision = {.half = to}, .disabled = passes_except({"narrow_floats"})});
    return type_of(graph, op, 0);
  };
  for (const float lost : {1e5F, -65520.0F, 1e-12F}) {
    EXPECT_EQ(type_behind("Div", lost, DType::kFloat16), DType::kFloat32) << lost;
    EXPECT_EQ(type_behind("Div", lost, DType::kBFloat16), DType::kBFloat16) << lost;
  }
  for (const float kept : {65504.0F, 1e-5F, 0.0F, -INFINITY})
    EXPECT_EQ(type_behind("Add", kept, DType::kFloat16), DType::kFloat16) << kept;
  EXPECT_EQ(type_behind("Clip", std::numeric_limits<float>::lowest(), DType::kFloat16), DType::kFloat16);
}

TEST(NarrowFloats, NarrowsEveryElementwiseOperatorButAngles) {
  const auto type_between = [](const std::string& op, std::size_t inputs) {
    GraphBuilder b;
    const ValueId first = b.op("Conv", {b.input("x", {1, 3, 6, 6}), b.random({4, 3, 3, 3})});
    const ValueId second = b.op(op, std::vector<ValueId>(inputs, first));
    Graph graph = b.build({b.op("Conv", {second, b.random({4, 4, 1, 1})})});
    run_passes(graph, {.precision = {.half = DType::kFloat16}, .disabled = passes_except({"narrow_floats"})});
    return type_of(graph, op, 0);
  };
  for (const char* op : {"Acosh", "Ceil", "Celu", "Floor", "Log", "Reciprocal", "Sinh", "Softsign", "ThresholdedRelu"})
    EXPECT_EQ(type_between(op, 1), DType::kFloat16) << op;
  EXPECT_EQ(type_between("Sum", 3), DType::kFloat16);
  for (const char* op : {"Sin", "Cos", "Tan"}) EXPECT_EQ(type_between(op, 1), DType::kFloat32) << op;
}

TEST(NarrowFloats, ReportsWhatItWouldNarrow) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 3, 6, 6});
  const ValueId first = b.op("Relu", {b.op("Conv", {x, b.random({4, 3, 3, 3})})});
  const Graph graph = b.build({b.op("Exp", {b.op("Conv", {first, b.random({2, 4, 1, 1})})})});
  EXPECT_EQ(values_to_narrow(graph, {}, DType::kFloat16), (ValueNames{"x", "Conv0", "Relu1", "Conv2"}));
}

TEST(NarrowFloats, KeepsSamplingPositions) {
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

TEST(NarrowFloats, TakesAndGivesHalfPrecisionUnchanged) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 3, 6, 6}, DType::kFloat16);
  const ValueId wide = b.op("Cast", {x}, {{"to", onnx_of_dtype(DType::kFloat32)}});
  const ValueId y = b.op("Relu", {b.op("Conv", {wide, b.random({4, 3, 3, 3})})});
  const ValueId product = b.op("Conv", {y, b.random({2, 4, 1, 1})});
  Graph graph = b.build({product, b.op("Exp", {product})});
  const Tensor drawn = test::random_tensor({1, 3, 6, 6}, 5);
  std::map<std::string, Tensor> inputs = {{"x", Tensor(DType::kFloat16, drawn.shape())}};
  cast_elements(view_of(drawn), view_of(inputs.at("x")));
  const std::vector<Tensor> before = interpret(graph, inputs);
  run_passes(graph, {.precision = {.half = DType::kFloat16, .half_outputs = true},
                     .disabled = passes_except({"narrow_floats"})});
  EXPECT_EQ(operators(graph), "Conv Relu Conv Cast Exp");
  EXPECT_EQ(graph.value(graph.outputs()[0]).type.dtype, DType::kFloat16);
  EXPECT_EQ(graph.value(graph.outputs()[0]).name, "Conv3") << "an output keeps its name";
  EXPECT_EQ(graph.value(graph.outputs()[1]).type.dtype, DType::kFloat32) << "what follows the last product stays";
  const std::vector<Tensor> after = interpret(graph, inputs);
  for (std::size_t i = 0; i < before.size(); ++i) {
    const auto got = numbers_of(after[i]);
    const auto wanted = numbers_of(before[i]);
    ASSERT_EQ(got->size(), wanted->size());
    for (std::size_t j = 0; j < got->size(); ++j) EXPECT_NEAR((*got)[j], (*wanted)[j], 0.02);
  }
}

TEST(NarrowFloats, LeavesNetworksWithoutProductsAlone) {
  GraphBuilder b;
  Graph graph = b.build({b.op("Exp", {b.op("Sigmoid", {b.input("x", {2, 3})})})});
  EXPECT_EQ(narrow(graph), 0);
}

TEST(NarrowFloats, DoesNothingByDefault) {
  GraphBuilder b;
  Graph graph = b.build({b.op("MatMul", {b.input("x", {2, 3}), b.random({3, 4})})});
  EXPECT_EQ(test::rewrite(graph, "narrow_floats"), 0);
}

}  // namespace
}  // namespace saccade
