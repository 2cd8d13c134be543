#include "measure/limits/bounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "pipeline/model/compile.hpp"
#include "runtime/reference_backend.hpp"
#include "support/graph_builder.hpp"

namespace saccade {
namespace {

using test::GraphBuilder;
using Integers = std::vector<std::int64_t>;

Bandwidth same(double rate) { return {rate, rate, rate, rate}; }

/// One operation, and ten bytes from the closest memory, per nanosecond.
Ceilings made_up() {
  Ceilings ceilings;
  ceilings.compute = {{"fma", OperandType::kFloat32, 1e9, 1e9}, {"dot", OperandType::kInt8, 4e9, 4e9}};
  ceilings.memory = {{.level = "L1d", .capacity = 100, .all = same(10e9)},
                     {.level = "L2", .capacity = 900, .all = same(5e9)},
                     {.level = "memory", .all = same(1e9)}};
  ceilings.clock = Nanoseconds(2);
  return ceilings;
}

TEST(Bounds, ComputeLimits) {
  const Bound bound = bound_of({.operations = 1000, .products = 1000, .read_bytes = 40}, 40, made_up());
  EXPECT_DOUBLE_EQ(bound.time.count(), 1000);
  EXPECT_EQ(bound.limiter, "compute");
  EXPECT_DOUBLE_EQ(bound.memory.count(), 4);
}

TEST(Bounds, ProductsAndOtherOperationsRunSideBySide) {
  EXPECT_DOUBLE_EQ(bound_of({.operations = 1400, .products = 1000}, 0, made_up()).time.count(), 1000);
  EXPECT_DOUBLE_EQ(bound_of({.operations = 2400, .products = 1000}, 0, made_up()).time.count(), 1400);
}

TEST(Bounds, PrecisionChoosesThePeak) {
  const Work work{.operations = 1000, .products = 1000, .precision = OperandType::kInt8};
  EXPECT_DOUBLE_EQ(bound_of(work, 0, made_up()).time.count(), 250);
}

TEST(Bounds, OnlyProductsOfWinogradsAlgorithmTakeItsRate) {
  Ceilings ceilings = made_up();
  ceilings.winograd = true;
  EXPECT_DOUBLE_EQ(bound_of({.operations = 1000, .products = 1000}, 0, ceilings).time.count(), 1000);
  const Work windows{.operations = 1000, .products = 1000, .winograd_products = 1000};
  EXPECT_DOUBLE_EQ(bound_of(windows, 0, ceilings).time.count(), 250);
  EXPECT_DOUBLE_EQ(bound_of(windows, 0, made_up()).time.count(), 1000) << "no kernel has it";
  const Work both{.operations = 1000, .products = 1000, .winograd_products = 400};
  EXPECT_DOUBLE_EQ(bound_of(both, 0, ceilings).time.count(), 700);
  EXPECT_EQ(ceilings.winograd_peak(OperandType::kBFloat16), 4e9) << "in float32";
  ceilings.compute.push_back({"bf16", OperandType::kBFloat16, 9e9, 9e9});
  EXPECT_EQ(ceilings.winograd_peak(OperandType::kBFloat16), 9e9);
}

TEST(Bounds, TheLevelThatCanHoldTheDataLimits) {
  // The closest level holds 100 bytes, so that 400 must come from the next.
  const Bound close = bound_of({.read_bytes = 500}, 500, made_up());
  EXPECT_DOUBLE_EQ(close.time.count(), 80);
  EXPECT_EQ(close.limiter, "L2");
  // 1000 fit into both caches, 4000 come from memory.
  const Bound far = bound_of({.read_bytes = 5000}, 5000, made_up());
  EXPECT_DOUBLE_EQ(far.time.count(), 4000);
  EXPECT_EQ(far.limiter, "memory");
}

TEST(Bounds, WritesAreReadsOtherWay) {
  EXPECT_DOUBLE_EQ(bound_of({.write_bytes = 5000}, 5000, made_up()).time.count(), 4000);
  Ceilings one_way = made_up();
  one_way.memory[2].all = {.read = 1e9, .write = 0.5e9, .copy = 1.2e9, .mixed = 1.2e9};
  // 4000 out at half a byte per nanosecond; 4000 in and out at 1.2 would take 6667.
  EXPECT_DOUBLE_EQ(bound_of({.read_bytes = 5000, .write_bytes = 5000}, 5000, one_way).time.count(), 8000);
}

TEST(Bounds, WeightsLieWhereTheWorkingSetFits) {
  // A frame accesses 10,000 bytes: of 500 bytes of weights, 10 % are still in the caches, which hold 1000.
  const Bound bound = bound_of({.weight_bytes = 500}, 10000, made_up());
  EXPECT_DOUBLE_EQ(bound.time.count(), 450);
  EXPECT_EQ(bound.limiter, "memory");
  EXPECT_DOUBLE_EQ(bound_of({.weight_bytes = 500}, 900, made_up()).time.count(), 500 * (1 - 100.0 / 900) / 5);
}

TEST(Bounds, NothingIsFasterThanTheClock) {
  const Bound bound = bound_of({.operations = 1}, 0, made_up());
  EXPECT_DOUBLE_EQ(bound.time.count(), 2);
  EXPECT_EQ(bound.limiter, "launch");
}

TEST(Bounds, NarrowPrecisionsFallBackOnWiderOnes) {
  EXPECT_EQ(made_up().peak(OperandType::kBFloat16), 1e9);
  EXPECT_EQ(made_up().peak(OperandType::kInt8), 4e9);
}

TEST(Bounds, APlanAddsUpItsSteps) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 100});
  const ValueId y = b.op("MatMul", {x, b.random({100, 10})});
  const ValueId z = b.op("Relu", {b.op("Reshape", {y, b.ints({10})})});
  const ReferenceBackend backend;
  const auto plan = Plan::compile(b.build({z}), backend, {});
  const PlanBounds bounds = bound_plan(*plan, made_up());
  ASSERT_EQ(bounds.steps.size(), 3U);
  EXPECT_EQ(bounds.steps[0].work.products, 2000);
  EXPECT_EQ(bounds.steps[1].time.count(), 0) << "a view";
  EXPECT_DOUBLE_EQ(bounds.steps[2].time.count(), 10);
  EXPECT_DOUBLE_EQ(bounds.whole.time.count(), bounds.steps[0].time.count() + 10);
  EXPECT_DOUBLE_EQ(bounds.stages[static_cast<std::size_t>(Stage::kModel)].time.count(), bounds.whole.time.count());
  EXPECT_EQ(bounds.whole.limiter, bounds.steps[0].limiter);
  // Fused: 4000 bytes of weights, 400 in, 40 out.
  EXPECT_EQ(bounds.fused.work.activation_bytes(), 440);
  EXPECT_LE(bounds.fused.time, bounds.whole.time);
}

TEST(Bounds, PartsThatAreWrittenInPlaceAreNotMoved) {
  GraphBuilder b;
  const ValueId x = b.op("MaxPool", {b.input("x", {1, 4, 9, 9})}, {{"kernel_shape", Integers{2, 2}}});
  const ValueId joined = b.op("Concat", {x, x}, {{"axis", std::int64_t{1}}});
  const ValueId y = b.op("MaxPool", {joined}, {{"kernel_shape", Integers{2, 2}}});
  const auto plan =
      compile({.graph = b.build({y}), .options = {.device = Device::cpu(), .precision = Precision::kFp32}});
  const std::vector<Bound> bounds = bound_steps(*plan, made_up());
  const auto concat = std::ranges::find_if(
      plan->steps(), [&](const Step& step) { return plan->graph().node(step.node).op == "Concat"; });
  ASSERT_NE(concat, plan->steps().end());
  const Work& work = bounds[static_cast<std::size_t>(concat - plan->steps().begin())].work;
  EXPECT_EQ(work.write_bytes, 4 * 4 * 64) << "one of two places";
}

TEST(Bounds, Headroom) {
  EXPECT_DOUBLE_EQ(headroom(Nanoseconds(25), Nanoseconds(100)), 0.75);
  EXPECT_LT(headroom(Nanoseconds(103), Nanoseconds(100)), 0);
  EXPECT_EQ(headroom(Nanoseconds(1), Nanoseconds(0)), 0);
}

}  // namespace
}  // namespace saccade
