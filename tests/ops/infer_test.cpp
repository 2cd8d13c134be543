#include "ops/interpreter/infer.hpp"

#include "ops/run_op.hpp"
#include "support/graph_builder.hpp"

namespace saccade {
namespace {

TEST(Infer, LetsPreprocessAloneReadAFrame) {
  // A frame's memory is a FrameView, whatever its shape.
  const auto [code, message] =
      OpCall{.op = "Identity", .inputs = {Tensor(DType::kFrame, {64})}, .constant = false}.error();
  EXPECT_EQ(code, ErrorCode::kInvalidFile);
  EXPECT_NE(message.find("input 0 is a frame"), std::string::npos) << message;
}

TEST(Infer, RefusesMoreInputsAndFewerThanTheOperatorTakes) {
  const Tensor x = Tensor::scalar(1.0F);
  EXPECT_NE((OpCall{.op = "Silu", .inputs = {x, x}, .domain = "saccade"}.error().second.find("takes 1 at most")),
            std::string::npos);
  EXPECT_NE((OpCall{.op = "MatMul", .inputs = {x}}.error().second.find("input 1 is missing")), std::string::npos);
}

TEST(Infer, CountsNoOperandOfAPostOp) {
  test::GraphBuilder b;
  const ValueId x = b.input("x", {2});
  const ValueId y = b.op("Relu", {x, x});
  b.graph().node(b.graph().value(y).producer).post_ops.push_back({.op = "Add", .operand = 1});
  const Graph graph = b.build({y});
  EXPECT_EQ(graph.value(y).type.shape, (Shape{2}));
}

TEST(Infer, DoesNotWorkOutWhatAPostOpChanges) {
  test::GraphBuilder b;
  const ValueId y = b.op("Relu", {b.floats({2}, {1, -1})});
  infer_types(b.graph());
  EXPECT_NE(KnownValues(b.graph()).get(y), nullptr);
  b.graph().node(b.graph().value(y).producer).post_ops.push_back({.op = "Add", .operand = 0});
  EXPECT_EQ(KnownValues(b.graph()).get(y), nullptr);
}

}  // namespace
}  // namespace saccade
