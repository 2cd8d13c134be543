#pragma once

#include <array>
#include <optional>

#include "measure/limits/ceilings.hpp"
#include "measure/limits/work.hpp"
#include "runtime/plan.hpp"

namespace saccade {

/// The least time that a device's ceilings allow.
struct Bound {
  Nanoseconds time{};
  std::string limiter;  ///< what determines the time: "compute", a level of memory ("L2"), "launch"; empty: no work
  Nanoseconds compute{};
  Nanoseconds memory{};  ///< of the slowest level
  Work work;
};

struct BoundOptions {
  std::optional<OperandType> precision;  ///< assumed for floating-point tensors; empty: the plan's
  FrameSize frame;                       ///< input of the plan's Preprocess
};

/// Bounds of all steps, of the stages and of the whole, executed sequentially.
struct PlanBounds {
  std::vector<Bound> steps;     ///< by step of the plan; 0 for a view
  std::array<Bound, 3> stages;  ///< by Stage; the limiter is the one with the largest share of time
  Bound whole;
  /// A bound for any plan of the model: all operations at the peak, weights, inputs and outputs transferred once,
  /// intermediates kept in registers.
  Bound fused;
};

/// WORKING_SET: bytes accessed per frame, which determines how much of the weights stays in the caches.
Bound bound_of(const Work& work, std::int64_t working_set, const Ceilings& ceilings);

/// The bounds of a plan's steps, by step.
std::vector<Bound> bound_steps(const Plan& plan, const Ceilings& ceilings, const BoundOptions& options = {});
PlanBounds bound_plan(const Plan& plan, const Ceilings& ceilings, const BoundOptions& options = {});

/// The share of a measured time that the bound does not explain: 1 - bound / measured. Negative if the bound is
/// violated; 0 without a measurement.
double headroom(Nanoseconds bound, Nanoseconds measured);

}  // namespace saccade
