#pragma once

#include <array>
#include <functional>
#include <vector>

#include "measure/statistics/units.hpp"
#include "runtime/plan.hpp"

namespace saccade {

/// The time of one item over many runs.
struct Timing {
  Nanoseconds least{};
  Nanoseconds median{};
};

/// The times of a plan over many runs.
struct PlanTimes {
  int runs = 0;
  std::vector<Timing> steps;     ///< by step of the plan; 0 for a view
  std::array<Timing, 3> stages;  ///< by Stage
  Timing whole;
};

/// Fills an execution's inputs with fixed numbers that suit most models: floats in [0, 1), random bytes, 1 for other
/// integers.
void fill_inputs(Execution& execution);

/// Runs an execution with filled inputs, after some warm-up runs, for at least SECONDS and ten times; PROGRESS receives
/// the completed share. Throws Error if a model's operators reject the inputs.
PlanTimes time_plan(Execution& execution, double seconds, const std::function<void(double share)>& progress = {});

}  // namespace saccade
