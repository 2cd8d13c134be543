#pragma once

#include "passes/core/pass.hpp"

namespace saccade {

/// The float32 values of GRAPH, the input of narrow_floats, that the pass would convert to TO, float16 or bfloat16, for
/// TARGET. Constants are not listed.
ValueNames values_to_narrow(const Graph& graph, const Target& target, DType to);

/// The convolutions, GEMMs and attention of GRAPH, the input of narrow_floats, that the pass would compute in
/// PRECISION.half, which is set, for TARGET; in order.
std::vector<NodeId> products_to_narrow(const Graph& graph, const Target& target, const MixedPrecision& precision);

}  // namespace saccade
