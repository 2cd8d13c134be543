#pragma once

#include "graph/graph.hpp"

namespace saccade {

/// Throws Error (kInvalidFile) if a node of an ONNX operator has more inputs than any version of its schema.
void check_input_count(const Node& node);

}  // namespace saccade
