#pragma once

#include "passes/core/pass.hpp"
#include "saccade/model.hpp"

namespace saccade {

/// The float32 values of GRAPH, which is as compile() is given it, that OPTIONS make halves and that a float16
/// may not hold: those that come to a quarter of its end or beyond when the graph is run in float32, on a frame
/// of the built-in scene and one of noise where it takes frames, else on noise of 0 to 1 and on areas of colour of -2.2
/// to 2.7, as images have them whose mean and deviation were taken out; 8-bit integers have their whole range. A
/// warning says what was found; where it does not run so, that it is not known, and the answer is: none. Where
/// OPTIONS make no halves of it, nothing is run. Takes the time of these runs, and memory for all such values at once.
/// Any thread. Throws Error where the passes do.
ValueNames values_past_halves(const Graph& graph, const ModelOptions& options);

}  // namespace saccade
