#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include "cuda/driver/handles.hpp"

namespace saccade::cuda {

/// What each of COUNT launches of a graph adds to its time in its place there: events between launches would keep one
/// from starting while its predecessor drains, so graphs of the first 0, 1, 2, ... launches are timed as a whole, in
/// turns, and the differences of their medians count. GRAPH_OF captures the first so many launches. One value a launch,
/// none below 0. Throws Error (kDevice).
std::vector<std::chrono::nanoseconds> step_costs(CUstream stream, std::size_t count,
                                                 const std::function<GraphExec(std::size_t launches)>& graph_of);

}  // namespace saccade::cuda
