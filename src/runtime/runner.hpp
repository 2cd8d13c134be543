#pragma once

#include <chrono>
#include <memory>
#include <span>

#include "base/clock.hpp"
#include "graph/graph.hpp"
#include "tensor/frame.hpp"

namespace saccade {

class Plan;

/// When a launch ran.
struct StepTime {
  Clock::time_point start;
  Clock::time_point end;

  std::chrono::nanoseconds duration() const { return end - start; }
};

/// How a device runs one execution of a plan: its memory, and the launches bound to it. Made by the plan's backend; one
/// thread at a time.
class Runner {
 public:
  virtual ~Runner() = default;
  /// A graph input or output as the host sees it: row-major, valid while the runner lives.
  virtual TensorView view(ValueId id) const = 0;
  /// The frame that a kFrame input reads; null where the graph has none.
  virtual FrameView* frame() = 0;
  /// Runs all launches and returns when the outputs can be read on the host.
  virtual void run() = 0;
  /// Fills the arena with NaN patterns, inputs included.
  virtual void poison() = 0;
  virtual std::chrono::nanoseconds stage_time(Stage stage) const = 0;
  /// From now on run() writes here when each launch ran; empty: it does not. An entry a step of the plan.
  virtual void time_steps(std::span<StepTime> times) = 0;
};

/// Runs the launches one after the other on the calling thread, in host memory.
std::unique_ptr<Runner> make_host_runner(const Plan& plan);

}  // namespace saccade
