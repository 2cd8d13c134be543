#pragma once

#include "graph/graph.hpp"

namespace saccade {

/// A float32 convolution, GEMM or attention with this attribute may round its operands to tf32 (10 mantissa bits) in
/// tensor cores and accumulates in float32. Backends without it ignore the attribute.
inline constexpr const char* kTf32Attribute = "saccade.tf32";

inline bool takes_tf32(const Node& node) { return node.attributes.integer(kTf32Attribute, 0) != 0; }

}  // namespace saccade
