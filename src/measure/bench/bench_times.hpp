#pragma once

#include "measure/bench/bench.hpp"

namespace saccade {

/// Computes the speed of an engine from all LOADS; BATCH images per run. Does not change the rest of TIMES.
void set_times(EngineTimes& times, std::span<const Series> loads, int batch);

/// Stage summaries over all LOADS' runs.
std::vector<StageSummary> stages_of(std::span<const Series> loads);

}  // namespace saccade
