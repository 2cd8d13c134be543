#pragma once

#include "passes/core/pass.hpp"

namespace saccade {

/// The float32 values of a graph, constants apart, that narrow_floats would make TO, which is a half: GRAPH is as that
/// pass finds it.
ValueNames values_to_narrow(const Graph& graph, DType to);

}  // namespace saccade
