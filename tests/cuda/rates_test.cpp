#include <gtest/gtest.h>

#include "pipeline/model/compile.hpp"
#include "runtime/cuda_backend.hpp"
#include "support/graph_builder.hpp"

namespace saccade {
namespace {

TEST(CudaRates, AreAllMeasured) {
  const GpuRates rates =
      measure_gpu(0, {.memory_bytes = std::size_t{256} << 10, .l2_loops = 2, .compute_loops = 1, .windows = 1});
  EXPECT_FALSE(rates.device.empty());
  EXPECT_GT(rates.l2_bytes, 0U);
  for (const GpuBandwidth& level : {rates.l2, rates.memory})
    for (const double rate : {level.read, level.write, level.copy}) EXPECT_GT(rate, 0);
  for (const double rate : {rates.fp16, rates.bf16, rates.tf32, rates.int8, rates.fp32}) EXPECT_GT(rate, 0);
  const bool is_hopper = rates.device.find("sm_90") != std::string::npos;
  for (const double rate : {rates.warpgroup_fp16, rates.warpgroup_bf16}) EXPECT_EQ(rate > 0, is_hopper);
  EXPECT_GT(rates.run.count(), 0);
  ASSERT_EQ(rates.copies.size(), 2U) << "16 KiB and 128 KiB";
  for (const GpuCopy& copy : rates.copies) EXPECT_GT(std::min(copy.upload, copy.download).count(), 0);
}

/// A profile's launch times: marginal costs in a captured graph, else intervals between events.
TEST(CudaProfile, GivesEveryLaunchItsTime) {
  test::GraphBuilder b;
  const ValueId x = b.input("x", {1, 8, 8, 8});
  const ValueId y = b.op("Softmax", {b.op("Conv", {x, b.random({8, 8, 3, 3})})});
  const Graph graph = b.build({y});
  for (const bool captured : {true, false}) {
    Execution execution(compile({.graph = graph, .options = {.device = Device::cuda(), .graph = captured}}));
    const std::vector<Step>& steps = execution.plan().steps();
    std::vector<StepTime> times(steps.size());
    execution.time_steps(times);
    execution.run();
    std::chrono::nanoseconds sum{};
    Clock::time_point before{};
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (!steps[i].launch) continue;
      EXPECT_GE(times[i].duration().count(), 0);
      sum += times[i].duration();
      EXPECT_GE(times[i].start, before) << "one after the other";
      before = times[i].end;
    }
    EXPECT_GT(sum.count(), 0);
    EXPECT_GT(execution.stage_time(Stage::kModel).count(), 0);
  }
}

/// A pipeline starts the next frame before it reads the times of the last one.
TEST(CudaStageTimes, AreThoseOfTheRunThatWasWaitedForLast) {
  test::GraphBuilder b;
  const Graph graph = b.build({b.op("Relu", {b.input("x", {4, 4})})});
  for (const bool captured : {true, false}) {
    Execution execution(compile({.graph = graph, .options = {.device = Device::cuda(), .graph = captured}}));
    execution.run();
    const auto last = execution.stage_time(Stage::kModel);
    EXPECT_GT(last.count(), 0);
    execution.submit();
    EXPECT_EQ(execution.stage_time(Stage::kModel), last);
    execution.wait();
  }
}

}  // namespace
}  // namespace saccade
