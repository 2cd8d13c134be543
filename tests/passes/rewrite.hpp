#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

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

/// The pixels of a frame and their geometry: the outputs of a Preprocess of 8x6 pixels.
inline std::vector<ValueId> frame_pixels(GraphBuilder& b) {
  const std::vector<float> ones{1, 1, 1};
  const std::vector<float> zeros{0, 0, 0};
  return b.multi("saccade.Preprocess", {b.input("frame", {}, DType::kFrame)}, 2,
                 {{"width", std::int64_t{8}},
                  {"height", std::int64_t{6}},
                  {"resize", std::string("stretch")},
                  {"color", std::string("rgb")},
                  {"scale", ones},
                  {"bias", zeros}});
}

/// The node that computes the graph's first output.
inline const Node& last_node(const Graph& graph) { return *graph.producer(graph.outputs()[0]); }

}  // namespace saccade::test
