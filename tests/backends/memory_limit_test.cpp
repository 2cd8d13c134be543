#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.hpp"
#include "passes/core/manager.hpp"
#include "runtime/plan.hpp"
#include "support/graph_builder.hpp"

namespace saccade {
namespace {

/// Two convolutions of 576 KiB of weights each, channels-last, whose tensors take 160 KiB or less.
std::shared_ptr<const Plan> compile_within(std::size_t kilobytes) {
  test::GraphBuilder b;
  ValueId x = b.input("x", {1, 128, 8, 8});
  for (int i = 0; i < 2; ++i)
    x = b.op("Conv", {x, b.random({128, 128, 3, 3})}, {{"pads", std::vector<std::int64_t>{1, 1, 1, 1}}});
  Graph graph = b.build({x});
  const Backend& backend = cpu_backend();
  run_passes(graph, {.target = {.layout_rule = backend.target().layout_rule}});
  return Plan::compile(std::move(graph), backend, {.max_memory = kilobytes << 10});
}

/// Whether oneDNN packs these weights on this processor; by plain matrix products it takes them as they lie.
bool are_packed() {
  const auto plan = compile_within(0);
  return std::ranges::none_of(plan->steps(), [](const Step& step) {
    return step.launch != nullptr && step.launch->detail().find("gemm") != std::string::npos;
  });
}

std::string tactic_of_convolutions() {
  const auto plan = compile_within(0);
  for (const Step& step : plan->steps())
    if (plan->graph().node(step.node).is("Conv")) return std::string(step.tactic->name());
  return {};
}

TEST(MemoryLimit, PackedWeightsCountBesideTheWeights) {
  EXPECT_NO_THROW(compile_within(4000));
  // The weights twice over are 2304 KiB; once, 1152.
  if (!are_packed()) {
    EXPECT_NO_THROW(compile_within(2000));
    return;
  }
  try {
    compile_within(2000);
    FAIL() << "four times 576 KiB fit into 2000 KiB";
  } catch (const Error& error) {
    EXPECT_TRUE(std::string_view(error.what())
                    .starts_with("node 'Conv1' (Conv): tactic " + tactic_of_convolutions() + ": it needs 576.0 KiB"))
        << error.what();
  }
}

}  // namespace
}  // namespace saccade
