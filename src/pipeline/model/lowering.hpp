#pragma once

#include "passes/core/manager.hpp"
#include "runtime/tactic.hpp"
#include "saccade/model.hpp"

namespace saccade {

/// How to lower a graph for BACKEND: its target, and the passes and the precision of OPTIONS. KEEP_FP32 is the result
/// of find_fp32_keep_list() for the graph. BACKEND outlives the result.
PassOptions pass_options(const ModelOptions& options, const Backend& backend, Fp32KeepList keep_fp32 = {});

/// Runs the passes of OPTIONS before narrow_floats on GRAPH, the input of compile(): its values then have the names of
/// a keep list. Returns false, and leaves GRAPH as it is, if that pass is disabled.
bool lower_to_narrowing(Graph& graph, const ModelOptions& options);

/// Whether OPTIONS disable passes, which changes the names of values.
bool disables_passes(const ModelOptions& options);

}  // namespace saccade
