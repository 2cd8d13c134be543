#pragma once

#include "measure/bench/bench.hpp"

namespace saccade {

/// What all LOADS of an engine say about its speed; BATCH images a run. Leaves the rest of TIMES alone.
void set_times(EngineTimes& times, std::span<const Series> loads, int batch);

/// The stages of all LOADS' runs.
std::vector<StageSummary> stages_of(std::span<const Series> loads);

}  // namespace saccade
