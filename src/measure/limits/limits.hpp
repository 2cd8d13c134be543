#pragma once

#include <memory>
#include <optional>
#include <string>

#include "measure/limits/bounds.hpp"
#include "measure/limits/plan_times.hpp"
#include "saccade/model.hpp"

namespace saccade {

/// A model and its bounds on a device.
struct ModelLimits {
  std::string file;
  std::shared_ptr<const Plan> plan;
  FrameSize frame;                 ///< input of its pre-processing; 0 x 0: the plan takes tensors
  PlanBounds bounds;               ///< of the plan as compiled
  std::optional<PlanTimes> times;  ///< empty: not measured
};

/// A model compiled for frames if it is recognised, else for tensors.
struct CompiledModel {
  std::shared_ptr<const Plan> plan;
  bool takes_frames = false;
};
CompiledModel compile_for_limits(const std::string& path, const ModelOptions& options);

/// Runs a compiled model on synthetic inputs: frames of FRAME's size and format, or tensors.
PlanTimes run_for_limits(const CompiledModel& model, const FrameSize& frame, double seconds,
                         const std::function<void(double share)>& progress = {});

/// A measurement that is below its bound.
struct Violation {
  std::string where;  ///< "layer NODE (OP)", "stage model", "whole"
  Nanoseconds bound{};
  Nanoseconds least{};
  std::string limiter;
};
/// Launches, stages and the whole whose minimum time is more than TOLERANCE (relative) below the bound, worst first.
/// Needs times.
std::vector<Violation> violations(const ModelLimits& limits, double tolerance);

/// The smallest ratio of minimum time to bound over all launches: below 1, a bound is violated. Needs times.
double closest_to_bound(const ModelLimits& limits);

}  // namespace saccade
