#include <gtest/gtest.h>

#include "runtime/plan.hpp"
#include "runtime/reference_backend.hpp"
#include "support/graph_builder.hpp"

namespace saccade {
namespace {

TEST(HostRunner, TimesTheLaunchesOfAVariant) {
  test::GraphBuilder b;
  const ValueId x = b.input("x", {2, 3});
  const Graph graph = b.build({b.op("Relu", {b.op("Neg", {x})})});
  const auto plan = Plan::compile(graph, reference_backend(), {});
  const auto runner = make_host_runner(*plan);
  for (float& element : runner->view(plan->graph().inputs()[0]).as<float>()) element = -2;
  const auto variant = runner->make_variant(plan->steps());
  ASSERT_EQ(variant->step_times().size(), plan->steps().size());
  const auto first = variant->time(1);
  const auto later = variant->time(5);
  EXPECT_GT(later.count(), 0);
  EXPECT_LE(later, first) << "the least of all runs";
  std::chrono::nanoseconds sum{};
  for (const std::chrono::nanoseconds each : variant->step_times()) sum += each;
  EXPECT_EQ(sum, later);
  EXPECT_EQ(runner->view(plan->graph().outputs()[0]).as<float>()[5], 2) << "on the runner's tensors";
}

}  // namespace
}  // namespace saccade
