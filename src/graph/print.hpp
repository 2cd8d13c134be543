#pragma once

#include <string>

#include "base/report_text.hpp"
#include "graph/graph.hpp"

namespace saccade {

struct PrintOptions {
  bool types = true;             ///< every output's type, shape and layout
  bool attributes = true;        ///< every node's attributes
  std::size_t max_elements = 8;  ///< constants of at most so many elements are printed; larger ones as their shape
};

/// The graph as text: its inputs, one line per node in topological order, its outputs.
ReportText print(const Graph& graph, const PrintOptions& options = {});

/// One node's line: "conv1 = Conv(images, {16x3x3x3}, {16}) [strides=[2, 2]] | Silu -> conv1: float32 1x16x320x320
/// nhwc".
std::string print(const Graph& graph, const Node& node, const PrintOptions& options = {});

/// A node's name in messages: "node 'conv1' (Conv)", with its domain if that is not ONNX's.
std::string describe(const Node& node);

}  // namespace saccade
