#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "passes/core/manager.hpp"
#include "runtime/plan.hpp"
#include "support/graph_builder.hpp"

namespace saccade {
namespace {

std::ptrdiff_t thread_count() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator());
}

std::shared_ptr<const Plan> three_convolutions() {
  test::GraphBuilder b;
  ValueId x = b.input("x", {1, 128, 32, 32});
  for (int i = 0; i < 3; ++i)
    x = b.op("Conv", {x, b.random({128, 128, 3, 3})}, {{"pads", std::vector<std::int64_t>{1, 1, 1, 1}}});
  Graph graph = b.build({x});
  run_passes(graph, {.target = cpu_backend().target()});
  return Plan::compile(std::move(graph), cpu_backend(), {.threads = 2});
}

// One team a process, however many threads run plans.
TEST(Workers, AreSharedByAllExecutions) {
  const std::ptrdiff_t before = thread_count();
  const auto plan = three_convolutions();
  Execution first(plan);
  first.run();
  const std::ptrdiff_t one = thread_count();
  EXPECT_LE(one, before + 1) << "a team of two has one worker";
  std::jthread([&plan] {
    Execution second(plan);
    second.run();
  });
  Execution third(plan);
  third.run();
  EXPECT_EQ(thread_count(), one);
}

}  // namespace
}  // namespace saccade
