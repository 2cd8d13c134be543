#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/cuda_backend.hpp"
#include "runtime/plan.hpp"
#include "saccade/error.hpp"
#include "support/graph_builder.hpp"

// Out-of-range run-time indices end the run in an Error, as on the host, and never access other memory.
namespace saccade {
namespace {

/// The error of a run with INDICES as the graph's first input; empty if none.
std::string report_of(Execution& execution, const std::vector<std::int64_t>& indices) {
  std::ranges::copy(indices, execution.input(0).as<std::int64_t>().begin());
  try {
    execution.run();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    return error.what();
  }
  return {};
}

/// Runs the graph with an index out of range of a dimension, and then with valid ones.
void expect_report(const Graph& graph, const std::vector<std::int64_t>& bad, const std::vector<std::int64_t>& good,
                   const std::string& wanted) {
  for (const bool captured : {true, false}) {
    Execution execution(Plan::compile(graph, cuda_backend({.graph = captured}), {}));
    EXPECT_EQ(report_of(execution, good), "") << wanted;
    EXPECT_EQ(report_of(execution, bad), wanted);
    EXPECT_EQ(report_of(execution, good), "") << "the run after: " << wanted;
  }
}

TEST(CudaIndexReports, NameTheNodeOfAGather) {
  for (const std::int64_t index : {4, -5, 1 << 30}) {
    test::GraphBuilder b;
    const ValueId indices = b.input("indices", {2}, DType::kInt64);
    const Graph graph = b.build({b.op("Gather", {b.random({4, 3}), indices})});
    expect_report(graph, {3, index}, {-4, 3},
                  fmt::format("node 'Gather0' (Gather): index {} is outside a dimension of 4", index));
  }
}

TEST(CudaIndexReports, NameTheDimensionOfATuple) {
  test::GraphBuilder b;
  const ValueId indices = b.input("indices", {1, 2}, DType::kInt64);
  const Graph graph = b.build({b.op("GatherND", {b.random({4, 3, 2}), indices})});
  expect_report(graph, {3, 3}, {3, 2}, "node 'GatherND0' (GatherND): index 3 is outside a dimension of 3");
  expect_report(graph, {-5, 2}, {-4, 2}, "node 'GatherND0' (GatherND): index -5 is outside a dimension of 4");
}

TEST(CudaIndexReports, NameTheFirstOfSeveralNodes) {
  test::GraphBuilder b;
  const ValueId indices = b.input("indices", {2, 3}, DType::kInt64);
  const ValueId gathered = b.op("GatherElements", {b.random({4, 3}), indices}, {{"axis", std::int64_t{0}}});
  const ValueId scattered = b.op("ScatterElements", {b.random({2, 3}), indices, gathered}, {{"axis", std::int64_t{1}}});
  const Graph graph = b.build({gathered, scattered});
  expect_report(graph, {0, 1, 2, 3, 0, 1}, {0, 1, 2, 2, 1, 0},
                "node 'ScatterElements1' (ScatterElements): index 3 is outside a dimension of 3");
  expect_report(graph, {0, 1, 2, 4, 0, 1}, {0, 1, 2, 2, 1, 0},
                "node 'GatherElements0' (GatherElements): index 4 is outside a dimension of 4");
}

TEST(CudaIndexReports, NameTheNodeOfAScatter) {
  test::GraphBuilder b;
  const ValueId indices = b.input("indices", {2, 1}, DType::kInt64);
  const Graph graph = b.build({b.op("ScatterND", {b.random({5, 2}), indices, b.random({2, 2})})});
  expect_report(graph, {0, 5}, {0, -5}, "node 'ScatterND0' (ScatterND): index 5 is outside a dimension of 5");
}

}  // namespace
}  // namespace saccade
