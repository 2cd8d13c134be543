#include <cstdint>
#include <limits>

#include "op_case/function_values.hpp"
#include "ops/run_op.hpp"
#include "support/specials.hpp"
#include "tensor/half.hpp"

namespace saccade {
namespace {

using Named = std::vector<std::pair<std::string, Attribute>>;

Tensor floats(const std::vector<float>& values) { return vector_of(values); }

TEST(Unary, CutsErfOfIntegersOff) {
  const OpCall call{.op = "Erf", .inputs = {Tensor::of<std::int8_t>({4}, {0, 1, -100, 4})}};
  expect_tensor<std::int8_t>(call.one(), {4}, {0, 0, -1, 1});
}

TEST(Unary, GivesTheSameInEveryFloatType) {
  for (const FunctionValues& c : kFunctionValues) {
    SCOPED_TRACE(c.op);
    for (const std::int64_t type : {10, 11, 16}) {  // float16, float64, bfloat16
      const Tensor x = OpCall{.op = "Cast", .inputs = {floats(c.x)}, .attributes = {{"to", type}}}.one();
      const Tensor y = OpCall{.op = c.op, .inputs = {x}, .attributes = c.attributes}.one();
      EXPECT_EQ(y.dtype(), x.dtype());
      const Tensor back = OpCall{.op = "Cast", .inputs = {y}, .attributes = {{"to", std::int64_t{1}}}}.one();
      expect_tensor<float>(back, x.shape(), c.y, type == 11 ? 1e-6 : type == 10 ? 4e-3 : 3e-2);
    }
  }
}

TEST(Unary, RunsInPlace) {
  for (const FunctionValues& c : kFunctionValues) {
    SCOPED_TRACE(c.op);
    Tensor x = floats(c.x);
    Node node{.op = c.op};
    for (const auto& [name, value] : c.attributes) node.attributes.set(name, value);
    const TensorView view = view_of(x);
    find_op("", c.op)->reference(KernelContext(node, {&view, 1}, {&view, 1}));
    expect_tensor<float>(x, x.shape(), c.y, 1e-6);
  }
}

TEST(Unary, SiluIsOurOwn) {
  const OpCall silu{.op = "Silu", .inputs = {floats({0, 1, -100})}, .domain = "saccade"};
  expect_tensor<float>(silu.one(), {3}, {0, 0.7310586F, 0}, 1e-6);
}

TEST(Unary, SomeTakeIntegers) {
  const auto low = std::numeric_limits<std::int8_t>::min();
  const Tensor x = Tensor::of<std::int8_t>({3}, {low, 0, 5});
  const auto run = [&](const char* op) { return OpCall{.op = op, .inputs = {x}}.one(); };
  expect_tensor<std::int8_t>(run("Neg"), {3}, {low, 0, -5});
  expect_tensor<std::int8_t>(run("Abs"), {3}, {low, 0, 5});
  expect_tensor<std::int8_t>(run("Sign"), {3}, {-1, 0, 1});
  expect_tensor<std::int8_t>(run("Relu"), {3}, {0, 0, 5});
  EXPECT_EQ((OpCall{.op = "Exp", .inputs = {x}}.error().first), ErrorCode::kUnsupported);
}

TEST(Unary, KeepsTheSignOfZero) {
  const Tensor y = OpCall{.op = "Neg", .inputs = {floats({0})}}.one();
  EXPECT_TRUE(std::signbit(y.data<float>()[0]));
}

TEST(Unary, TakesScalarsAndEmptyTensors) {
  expect_tensor<float>(OpCall{.op = "Abs", .inputs = {Tensor::scalar(-2.0F)}}.one(), {}, {2});
  expect_tensor<float>(OpCall{.op = "Abs", .inputs = {Tensor::of<float>({2, 0}, {})}}.one(), {2, 0}, {});
}

TEST(Unary, TestsForSpecialValues) {
  const Tensor x = floats({1, kNan, kInfinity, -kInfinity});
  const auto run = [&](const char* op, Named attributes = {}) {
    return OpCall{.op = op, .inputs = {x}, .attributes = std::move(attributes)}.one();
  };
  expect_tensor<bool>(run("IsNaN"), {4}, {false, true, false, false});
  expect_tensor<bool>(run("IsInf"), {4}, {false, false, true, true});
  expect_tensor<bool>(run("IsInf", {{"detect_negative", std::int64_t{0}}}), {4}, {false, false, true, false});
  expect_tensor<bool>(run("IsInf", {{"detect_positive", std::int64_t{0}}}), {4}, {false, false, false, true});
}

TEST(Unary, NotTurnsBools) {
  expect_tensor<bool>(OpCall{.op = "Not", .inputs = {Tensor::of<bool>({2}, {true, false})}}.one(), {2}, {false, true});
  EXPECT_EQ((OpCall{.op = "Not", .inputs = {floats({1})}}.error().first), ErrorCode::kUnsupported);
}

TEST(Unary, GeluKnowsTwoForms) {
  const OpCall call{.op = "Gelu", .inputs = {floats({1})}, .attributes = {{"approximate", std::string("fast")}}};
  EXPECT_EQ(call.error().first, ErrorCode::kInvalidFile);
}

TEST(Clip, BoundsAreOptional) {
  const Tensor x = floats({-2, 0.5F, 3, kNan});
  const Tensor low = Tensor::scalar(-1.0F);
  const Tensor high = Tensor::scalar(1.0F);
  const auto run = [](std::vector<Tensor> inputs) { return OpCall{.op = "Clip", .inputs = std::move(inputs)}.one(); };
  expect_tensor<float>(run({x, low, high}), {4}, {-1, 0.5F, 1, kNan});
  expect_tensor<float>(run({x, low}), {4}, {-1, 0.5F, 3, kNan});
  expect_tensor<float>(run({x, {}, high}), {4}, {-2, 0.5F, 1, kNan});
  expect_tensor<float>(run({x}), {4}, {-2, 0.5F, 3, kNan});
  expect_tensor<float>(run({x, high, low}), {4}, {-1, -1, -1, kNan});  // ONNX: the maximum wins
  const Tensor large = Tensor::of<std::int64_t>({1}, {9007199254740993});
  expect_tensor<std::int64_t>(run({large, {}, large}), {1}, {9007199254740993});
}

TEST(Clip, BoundsHaveTheInputsType) {
  const OpCall mixed{.op = "Clip", .inputs = {floats({1}), Tensor::scalar(1.0)}};
  EXPECT_EQ(mixed.error().first, ErrorCode::kInvalidFile);
  const OpCall vector{.op = "Clip", .inputs = {floats({1}), floats({1, 2})}};
  EXPECT_EQ(vector.error().first, ErrorCode::kInvalidFile);
}

TEST(PostOps, ReachElementwiseKernels) {
  Graph graph;
  const ValueId x = graph.add_input("x", {DType::kFloat32, {3}});
  Node node{.op = "Identity", .name = "id", .inputs = {x}, .outputs = {graph.add_value("y")}};
  node.post_ops = {
      {.op = "LeakyRelu", .alpha = 0.5F}, {.op = "Mul", .operand = 0}, {.op = "Clip", .alpha = 1, .beta = 3}};
  graph.add_output(node.outputs[0]);
  graph.add_node(node);
  infer_types(graph);
  const Tensor y = interpret(graph, {{"x", floats({-2, 1, 2})}}).at(0);
  expect_tensor<float>(y, {3}, {2, 1, 3});  // -2 becomes -1, times -2; 1; 4 clipped
}

}  // namespace
}  // namespace saccade
