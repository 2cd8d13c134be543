#pragma once

#include "graph/graph.hpp"

namespace saccade {

/// Throws Error (kInvalidFile) where a node of ONNX's own operators has more inputs than its schema ever had.
void check_input_count(const Node& node);

}  // namespace saccade
