#pragma once

#include "passes/core/manager.hpp"
#include "runtime/tactic.hpp"
#include "saccade/model.hpp"

namespace saccade {

/// How to lower a graph for BACKEND: its target, and the passes and the precision of OPTIONS. KEEP_FP32 is the result
/// of find_fp32_keep_list() for the graph. BACKEND outlives the result.
PassOptions pass_options(const ModelOptions& options, const Backend& backend, Fp32KeepList keep_fp32 = {});

/// Whether OPTIONS disable passes, which changes the names of values.
bool disables_passes(const ModelOptions& options);

}  // namespace saccade
