#pragma once

#include "graph/graph.hpp"

namespace saccade {

/// A float32 convolution, product of matrices or attention that carries it may round what it multiplies to tf32 (10
/// bits behind the point, as NVIDIA's tensor cores take it) and adds up in float32. Who can't passes it over.
inline constexpr const char* kTf32Attribute = "saccade.tf32";

inline bool takes_tf32(const Node& node) { return node.attributes.integer(kTf32Attribute, 0) != 0; }

}  // namespace saccade
