#include <gtest/gtest.h>

#include <algorithm>

#include "pipeline/model/compile.hpp"
#include "runtime/cuda_backend.hpp"
#include "support/graph_builder.hpp"

namespace saccade {
namespace {

TEST(CudaResident, LeavesTensorsOnTheDeviceOnRequest) {
  test::GraphBuilder b;
  const Graph graph = b.build({b.op("Neg", {b.input("x", {4})})});
  for (const bool captured : {true, false}) {
    const auto plan = Plan::compile(graph, cuda_backend({.graph = captured}), {});
    Execution execution(plan);
    float& x = execution.input(0).as<float>()[0];
    const auto y = [&]() -> float& { return execution.output(0).as<float>()[0]; };
    x = 3;
    execution.leave_on_device(true);
    x = 5;
    y() = 7;
    execution.run();
    EXPECT_EQ(y(), 7) << "nothing was brought to the host";
    execution.leave_on_device(false);
    EXPECT_EQ(y(), -3) << "nothing was brought to the device";
    execution.run();
    EXPECT_EQ(y(), -5);
  }
}

TEST(CudaResident, ConvertsNothingAtTheEdgesOnRequest) {
  test::GraphBuilder b;
  const ValueId x = b.input("x", {1, 8, 4, 4});
  const ValueId y = b.op("Conv", {b.op("Conv", {x, b.random({8, 8, 1, 1})}), b.random({8, 8, 1, 1})});
  const Graph graph = b.build({y});
  const ModelOptions options{.device = Device::cuda(), .precision = Precision::kFp16};
  const auto casts = [&](Edges edges) {
    const auto plan = compile({.graph = graph, .options = options, .edges = edges});
    const bool is_half = edges == Edges::kAsComputed;
    for (ValueId id : {plan->graph().inputs()[0], plan->graph().outputs()[0]})
      EXPECT_EQ(plan->graph().value(id).type.dtype, is_half ? DType::kFloat16 : DType::kFloat32);
    // A Cast may be part of a fused node.
    return std::ranges::count_if(plan->steps(), [&](const Step& step) {
      const Node& node = plan->graph().node(step.node);
      return plan->graph().value(node.inputs[0]).type.dtype != plan->graph().value(node.outputs[0]).type.dtype;
    });
  };
  EXPECT_GT(casts(Edges::kAsModel), 0);
  EXPECT_EQ(casts(Edges::kAsComputed), 0);
}

}  // namespace
}  // namespace saccade
