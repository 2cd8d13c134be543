#pragma once

#include <array>
#include <optional>

#include "measure/limits/ceilings.hpp"
#include "measure/limits/work.hpp"
#include "runtime/plan.hpp"

namespace saccade {

/// A time that nothing on a device can undercut.
struct Bound {
  Nanoseconds time{};
  std::string limiter;  ///< what sets the time: "compute", a level of memory ("L2"), "launch"; empty: nothing to do
  Nanoseconds compute{};
  Nanoseconds memory{};  ///< of the level that takes longest
  Work work;
};

struct BoundOptions {
  std::optional<Precision> precision;  ///< as if floating-point tensors had it; empty: as the plan has them
  FrameSize frame;                     ///< what the plan's Preprocess reads
};

/// What all steps, a stage, or the whole take at least, one after the other.
struct PlanBounds {
  std::vector<Bound> steps;     ///< by step of the plan; a view takes nothing
  std::array<Bound, 3> stages;  ///< by Stage; the limiter is that of the largest share of time
  Bound whole;
  /// What no plan for the same model could undercut: all operations at the peak, weights, inputs and outputs moved
  /// once, everything in between kept in registers.
  Bound fused;
};

/// WORKING_SET: bytes that a frame touches in all, which decides where weights lie when their turn comes again.
Bound bound_of(const Work& work, std::int64_t working_set, const Ceilings& ceilings);

/// The bounds of a plan's steps, by step.
std::vector<Bound> bound_steps(const Plan& plan, const Ceilings& ceilings, const BoundOptions& options = {});
PlanBounds bound_plan(const Plan& plan, const Ceilings& ceilings, const BoundOptions& options = {});

/// The share of a measured time that the bound doesn't explain: 1 - bound / measured. Negative where the bound is
/// violated; 0 where nothing was measured.
double headroom(Nanoseconds bound, Nanoseconds measured);

}  // namespace saccade
