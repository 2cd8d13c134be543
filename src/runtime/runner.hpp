#pragma once

#include <chrono>
#include <memory>
#include <span>

#include "base/clock.hpp"
#include "graph/graph.hpp"
#include "tensor/frame.hpp"

namespace saccade {

class Plan;
struct Step;

/// When a launch ran.
struct StepTime {
  Clock::time_point start;
  Clock::time_point end;

  std::chrono::nanoseconds duration() const { return end - start; }
};

/// Runs of several executions on one frame as one piece of work. As one thread at a time as they are; meanwhile none of
/// them is run by itself.
class RunGroup {
 public:
  virtual ~RunGroup() = default;
  /// As the runners' own; all of them have the same frame.
  virtual void submit() = 0;
  virtual void wait() = 0;
};

/// A plan's run with other launches in the place of some, to be timed. One thread; goes before its runner.
class Variant {
 public:
  virtual ~Variant() = default;
  /// Runs it RUNS times, one right behind the other; what one of them took on the device.
  virtual std::chrono::nanoseconds time(int runs) = 0;
};

/// How a device runs one execution of a plan: its memory, and the launches bound to it. Made by the plan's backend; one
/// thread at a time.
class Runner {
 public:
  virtual ~Runner() = default;
  /// A graph input or output as the host sees it: row-major. An input's place is the same while the runner lives; an
  /// output's is where the last wait() left it, and stays as it is until the second submit() from there on.
  virtual TensorView view(ValueId id) const = 0;
  /// The frame that a kFrame input reads; null where the graph has none.
  virtual FrameView* frame() = 0;
  /// Where frames are read without a copy on the host.
  virtual FrameMemory& frame_memory() { return plain_frame_memory(); }
  /// Whether submit() begins work that goes on beside the caller's.
  virtual bool overlaps() const { return false; }
  /// Begins to run all launches, and does not wait for them; the one before must be done. Until wait() inputs, the
  /// frame and its pixels stay as they are.
  virtual void submit() = 0;
  /// Returns when the outputs of submit() can be read on the host.
  virtual void wait() = 0;
  /// Makes runs of this one and of OTHERS branches of one piece of work; null where their device runs one after the
  /// other. The runners outlive it.
  virtual std::unique_ptr<RunGroup> group(std::span<Runner* const> /*others*/) { return nullptr; }
  /// Fills the arena with NaN patterns, inputs included.
  virtual void poison() = 0;
  /// From now on runs read the inputs as they are now, and leave the outputs on the device, where the host does not see
  /// them; false ends that and brings the last run's. Changes nothing where the host is the device.
  virtual void leave_on_device(bool leaves) = 0;
  /// Of the last run; what a caller waited for it.
  virtual std::chrono::nanoseconds stage_time(Stage stage) const = 0;
  /// From now on runs write here when each launch ran; empty: they do not. An entry a step of the plan.
  virtual void time_steps(std::span<StepTime> times) = 0;
  /// The plan with STEPS in the place of its own: the same nodes by other launches. It works on this runner's tensors,
  /// with scratch of its own, as run() left them. Null where the device has no clock for it.
  virtual std::unique_ptr<Variant> make_variant(std::span<const Step> steps) {
    static_cast<void>(steps);
    return nullptr;
  }
};

/// Runs the launches one after the other on the calling thread, in host memory.
std::unique_ptr<Runner> make_host_runner(const Plan& plan);

}  // namespace saccade
