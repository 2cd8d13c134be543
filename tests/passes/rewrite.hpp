#pragma once

#include <gtest/gtest.h>

#include <string>

#include "graph/print.hpp"
#include "passes/core/manager.hpp"
#include "support/graph_builder.hpp"

namespace saccade::test {

/// Runs one pass alone and compares the outputs on random inputs before and after with the reference interpreter (a
/// difference is an Error and fails the test). Returns the number of applied patches.
inline std::int64_t rewrite(Graph& graph, const std::string& pass, PassOptions options = {}) {
  options.disabled = passes_except({pass});
  options.check = true;
  options.tolerance = 1e-5;
  return static_cast<std::int64_t>(run_passes(graph, options).patches.size());
}

/// The node that computes the graph's first output.
inline const Node& last_node(const Graph& graph) { return *graph.producer(graph.outputs()[0]); }

}  // namespace saccade::test
