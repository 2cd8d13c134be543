#pragma once

#include <array>
#include <functional>
#include <vector>

#include "measure/statistics/units.hpp"
#include "runtime/plan.hpp"

namespace saccade {

/// One thing's time over many runs.
struct Timing {
  Nanoseconds least{};
  Nanoseconds median{};
};

/// How long a plan took, run after run.
struct PlanTimes {
  int runs = 0;
  std::vector<Timing> steps;     ///< by step of the plan; 0 for a view
  std::array<Timing, 3> stages;  ///< by Stage
  Timing whole;
};

/// Fills an execution's inputs with numbers that suit most models and are the same each time: floats in [0, 1), bytes
/// of any value, other integers 1.
void fill_inputs(Execution& execution);

/// Runs an execution whose inputs are filled, after a few runs to warm up, for at least SECONDS and ten times; PROGRESS
/// is called with the share that is done. Throws Error where a model's operators refuse its inputs.
PlanTimes time_plan(Execution& execution, double seconds, const std::function<void(double share)>& progress = {});

}  // namespace saccade
