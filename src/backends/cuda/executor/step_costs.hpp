#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include "cuda/driver/handles.hpp"

namespace saccade::cuda {

/// What each of COUNT launches adds to the time of its graph. Events between launches would prevent PDL overlap, so
/// graphs of the first 0, 1, 2, ... launches are timed round-robin, and the differences of their medians are returned,
/// one per launch, none negative. GRAPH_OF captures the first N launches. Throws Error (kDevice).
std::vector<std::chrono::nanoseconds> step_costs(CUstream stream, std::size_t count,
                                                 const std::function<GraphExec(std::size_t launches)>& graph_of);

}  // namespace saccade::cuda
