#include "runtime/plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "ops/interpreter/sized.hpp"
#include "runtime/small_graph.hpp"
#include "support/graph_builder.hpp"

namespace saccade {
namespace {

using test::fill;
using test::kBackend;
using test::read;
using test::small_graph;

TEST(Plan, RunsAGraph) {
  Execution execution(Plan::compile(small_graph(), kBackend, {}));
  fill(execution.input(0), {1, 2, 3, -5, 0, 9});
  execution.run();
  EXPECT_EQ(read(execution.output(0)), (std::vector<float>{2, 2, 0, 0, 0, 5}));
  EXPECT_EQ(read(execution.output(1)), (std::vector<float>{4, 4, 0, 0, 0, 10}));
}

/// What compiling a graph within MAX_MEMORY throws.
std::string error_of(Graph graph, std::size_t max_memory) {
  try {
    Plan::compile(std::move(graph), kBackend, {.max_memory = max_memory});
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Plan, NamesWhatTheMemoryLimitHasNoRoomFor) {
  const auto graph = [](std::int64_t rows) {
    Graph made;
    const ValueId x = made.add_input("x", {DType::kFloat32, {rows, 1}});
    const ValueId shape = made.add_constant("shape", Tensor::of<std::int64_t>({2}, {rows, 1024}));
    const ValueId y = made.add_value("y");
    const ValueId z = made.add_value("z");
    made.add_node({.op = "Expand", .name = "wide", .inputs = {x, shape}, .outputs = {y}});
    made.add_node({.op = "Relu", .name = "relu", .inputs = {y}, .outputs = {z}});
    made.add_output(z);
    infer_types(made);
    return made;
  };
  constexpr std::size_t kMegabyte = 1 << 20;

  EXPECT_EQ(error_of(graph(256), 4 * kMegabyte), "");
  // The arena's 2 MiB fit; what comes out must have a place, too.
  EXPECT_TRUE(error_of(graph(256), 3 * kMegabyte).starts_with("the output 'z' (256x1024): it needs 1.0 MiB"));
  // The first tensor that has no room ends it: nothing is allocated for the 4 TiB after it.
  EXPECT_TRUE(error_of(graph(std::int64_t{1} << 30), kMegabyte).starts_with("input 'x': it needs 4.0 GiB"));
  EXPECT_TRUE(error_of(graph(512), kMegabyte).starts_with("node 'wide' (Expand): it needs 2.0 MiB"));
  // Each tensor has room, the two that live at a time do not.
  const std::string error = error_of(graph(256), kMegabyte + kMegabyte / 2);
  EXPECT_TRUE(error.starts_with("the memory for all tensors, the largest by node 'wide' (Expand): it needs 2.0 MiB"))
      << error;
}

TEST(Plan, SaysWhyItsTacticIsNotTheRequestedOne) {
  const auto refusal = [](std::string tactic) {
    CompileOptions options;
    options.tactics = {std::move(tactic)};
    try {
      Plan::compile(small_graph(), kBackend, options);
      return std::string();
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  EXPECT_EQ(refusal(""), "");
  EXPECT_EQ(refusal("tiled"), "node 'add' (Add): the reference backend has no tactic tiled: remove the choice");
}

TEST(Plan, RunsAgainOnTheSameInput) {
  Execution execution(Plan::compile(small_graph(), kBackend, {}));
  fill(execution.input(0), {1, 2, 3, -5, 0, 9});
  execution.run();
  execution.run();
  EXPECT_EQ(read(execution.output(1)), (std::vector<float>{4, 4, 0, 0, 0, 10}));
}

TEST(Plan, ReadsNothingThatItHasNotWritten) {
  Execution execution(Plan::compile(small_graph(), kBackend, {}));
  execution.poison();
  fill(execution.input(0), {1, 1, 1, 1, 1, 1});
  execution.run();
  for (float value : read(execution.output(1))) EXPECT_FALSE(std::isnan(value));
}

TEST(Plan, GivesAViewItsInputsMemory) {
  const auto plan = Plan::compile(small_graph(), kBackend, {});
  EXPECT_EQ(plan->steps()[2].launch, nullptr);
  // x, sum, positive (= y) and z take 24 bytes each; y takes none of its own.
  EXPECT_EQ(plan->tensor_bytes(), 4 * 24);
  EXPECT_LE(plan->arena_bytes(), 4 * 64);
}

TEST(Plan, TakesATransposeThatMovesNothingForAView) {
  const auto first_step_of = [](std::initializer_list<std::int64_t> order) {
    test::GraphBuilder b;
    const ValueId x = b.input("x", {1, 2, 3});
    const ValueId turned = b.op("Transpose", {x}, {{"perm", std::vector<std::int64_t>(order)}});
    return Plan::compile(b.build({b.op("Neg", {turned})}), kBackend, {})->steps()[0].launch;
  };
  EXPECT_EQ(first_step_of({1, 0, 2}), nullptr) << "of one element is dimension 0";
  EXPECT_NE(first_step_of({0, 2, 1}), nullptr);
}

TEST(Plan, RunsOnTwoThreadsAtOnceWithEqualOutputs) {
  const auto plan = Plan::compile(small_graph(), kBackend, {});
  std::vector<std::vector<float>> outputs(2);
  std::vector<std::thread> threads;
  for (std::vector<float>& output : outputs) {
    threads.emplace_back([&plan, &output] {
      Execution execution(plan);
      for (int i = 0; i < 200; ++i) {
        fill(execution.input(0), {1, 2, 3, 4, 5, 6});
        execution.run();
      }
      output = read(execution.output(1));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(outputs[0], (std::vector<float>{4, 4, 0, 10, 10, 4}));
  EXPECT_EQ(outputs[1], outputs[0]);
}

TEST(Plan, WritesDownWhenEveryLaunchRan) {
  Execution execution(Plan::compile(small_graph(), kBackend, {}));
  std::vector<StepTime> times(execution.plan().steps().size());
  execution.time_steps(times);
  execution.run();
  Clock::time_point last;
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (i == 2) {  // a view
      EXPECT_EQ(times[i].start, Clock::time_point());
      continue;
    }
    EXPECT_GT(times[i].start, last);
    EXPECT_GE(times[i].end, times[i].start);
    last = times[i].start;
  }
  std::fill(times.begin(), times.end(), StepTime());
  execution.time_steps({});
  execution.run();
  EXPECT_EQ(times[0].start, Clock::time_point());
  EXPECT_THROW(execution.time_steps(std::span(times).first(1)), Error);
}

}  // namespace
}  // namespace saccade
