#include <gtest/gtest.h>

#include <filesystem>

#include "passes/core/manager.hpp"
#include "runtime/plan.hpp"
#include "support/graph_builder.hpp"

namespace saccade {
namespace {

std::ptrdiff_t thread_count() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator());
}

// Idle workers of a team slow those of other teams down.
TEST(Workers, EndWithTheCompilationAndWithTheExecution) {
  test::GraphBuilder b;
  ValueId x = b.input("x", {1, 128, 32, 32});
  for (int i = 0; i < 3; ++i)
    x = b.op("Conv", {x, b.random({128, 128, 3, 3})}, {{"pads", std::vector<std::int64_t>{1, 1, 1, 1}}});
  Graph graph = b.build({x});
  const Backend& backend = cpu_backend();
  run_passes(graph, {.target = {.layout_rule = backend.target().layout_rule}});
  backend.release_thread();  // earlier tests of this process may have left workers
  const std::ptrdiff_t before = thread_count();
  const auto plan = Plan::compile(std::move(graph), backend, {.threads = 2});
  EXPECT_EQ(thread_count(), before) << "the plan is compiled";
  {
    Execution execution(plan);
    execution.run();
    EXPECT_EQ(thread_count(), before + 1) << "a team of two runs";
  }
  EXPECT_EQ(thread_count(), before) << "the execution has ended";
}

}  // namespace
}  // namespace saccade
