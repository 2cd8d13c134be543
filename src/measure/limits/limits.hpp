#pragma once

#include <memory>
#include <optional>
#include <string>

#include "measure/limits/bounds.hpp"
#include "measure/limits/plan_times.hpp"
#include "saccade/model.hpp"

namespace saccade {

/// A model beside the limits of a device.
struct ModelLimits {
  std::string file;
  std::shared_ptr<const Plan> plan;
  FrameSize frame;                 ///< what its pre-processing reads; 0 x 0: the plan takes tensors
  PlanBounds bounds;               ///< of the plan as it is
  std::optional<PlanTimes> times;  ///< empty: it was not run
};

/// A model compiled for frames where it is recognised, else for tensors.
struct CompiledModel {
  std::shared_ptr<const Plan> plan;
  bool takes_frames = false;
};
CompiledModel compile_for_limits(const std::string& path, const ModelOptions& options);

/// Runs a compiled model on made-up inputs: frames of FRAME's size and format, or tensors.
PlanTimes run_for_limits(const CompiledModel& model, const FrameSize& frame, double seconds,
                         const std::function<void(double share)>& progress = {});

/// One measured thing that is faster than it can be.
struct Violation {
  std::string where;  ///< "layer NODE (OP)", "stage model", "whole"
  Nanoseconds bound{};
  Nanoseconds least{};
  std::string limiter;
};
/// Launches, stages and the whole whose least time is more than TOLERANCE (a share) below the bound, the worst first.
/// Needs times.
std::vector<Violation> violations(const ModelLimits& limits, double tolerance);

/// The smallest least / bound of all launches: below 1, a bound is violated. Needs times.
double closest_to_bound(const ModelLimits& limits);

}  // namespace saccade
