#pragma once

#include "graph/fp32_keep_list.hpp"
#include "graph/graph.hpp"
#include "saccade/model.hpp"

namespace saccade {

/// Fp32KeepList::values for GRAPH, the input of compile(): those that OPTIONS narrow to float16 but that may exceed its
/// range, since they reach a quarter of the fp16 limit when the graph runs in float32. The inputs are a frame of the
/// built-in scene and one of noise for graphs on frames; else noise of 0 to 1 and colour areas of -2.2 to 2.7, the
/// range of normalised images; 8-bit integers use their whole range. A warning reports the result. If the graph does
/// not run in float32, a warning says so and the result is empty. Empty, without a run, for other precisions or if
/// nothing is narrowed. Takes the time of these runs, and memory for all such values at once. Any thread. Throws Error
/// if the passes do.
ValueNames find_fp32_keep_list(const Graph& graph, const ModelOptions& options);

}  // namespace saccade
