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

/// Start and end of a launch.
struct StepTime {
  Clock::time_point start;
  Clock::time_point end;

  std::chrono::nanoseconds duration() const { return end - start; }
};

/// Runs several executions on the same frames as branches of one graph. One thread at a time; none of them may run
/// alone in the meantime.
class RunGroup {
 public:
  virtual ~RunGroup() = default;
  /// As Runner::submit() and wait(); all runners have the same frames. If wait() throws, the runs before failed() are
  /// complete.
  virtual void submit() = 0;
  virtual void wait() = 0;
  /// The index of the run whose Error submit() or wait() threw last, in the order of the runners.
  virtual std::size_t failed() const = 0;
};

/// A plan with some launches replaced, to be timed. One thread; its runner outlives it.
class Variant {
 public:
  virtual ~Variant() = default;
  /// Runs it RUNS times back to back. Returns the device time of one run, in which those before may be included.
  virtual std::chrono::nanoseconds time(int runs) = 0;
  /// The least time of each launch in all runs so far, by step; empty: the device times whole runs only.
  virtual std::span<const std::chrono::nanoseconds> step_times() const { return {}; }
};

/// Runs one execution of a plan on a device: its memory and the launches bound to it. Created by the plan's backend.
/// One thread at a time.
class Runner {
 public:
  virtual ~Runner() = default;
  /// A graph input or output in host-visible memory, row-major. The address of an input is constant. An output is that
  /// of the last wait() and valid until the second submit() after it.
  virtual TensorView view(ValueId id) const = 0;
  /// The frames that the kFrame inputs read, in the order of the inputs.
  virtual std::span<FrameView> frames() = 0;
  /// The memory from which frames are read without a host copy.
  virtual FrameMemory& frame_memory() { return plain_frame_memory(); }
  /// Whether submit() starts work that runs concurrently with the caller.
  virtual bool overlaps() const { return false; }
  /// Starts all launches without waiting for them; the previous run must be complete. Inputs, the frames and their
  /// pixels must not change until wait().
  virtual void submit() = 0;
  /// Returns when the outputs of the submitted run can be read on the host.
  virtual void wait() = 0;
  /// Combines this runner and OTHERS into one graph; null if the device runs them one after the other. The runners
  /// outlive it.
  virtual std::unique_ptr<RunGroup> group(std::span<Runner* const> /*others*/) { return nullptr; }
  /// Fills the arena with NaN patterns, including inputs.
  virtual void poison() = 0;
  /// True: runs reuse the current inputs on the device and do not copy outputs to the host. False: ends that and copies
  /// the outputs of the last run. No effect if the host is the device.
  virtual void leave_on_device(bool leaves) = 0;
  /// A run on tensors of the device, in the order of STREAM, which is the device's kind of queue (a CUstream of its
  /// primary context; null: its default one). INPUTS and OUTPUTS have the address of each graph input and output, dense
  /// and row-major. Returns when the work is enqueued. Failures of kernels in earlier runs are thrown here. Before
  /// submit(), leave_on_device(false). Throws Error (kUnsupported) if the host is the device.
  virtual void enqueue(void* stream, std::span<const void* const> inputs, std::span<void* const> outputs);
  /// The tensors of the next submit() that are in the device's memory: the address of each graph input and output,
  /// dense and row-major; null: it is in view(). Inputs are complete. The memory stays valid until wait(). An output
  /// for which there is an address is not written to view(), unless another output's size is in it. Throws Error
  /// (kUnsupported) if the host is the device and there is an address.
  virtual void use_device_tensors(std::span<const void* const> inputs, std::span<void* const> outputs);
  /// Time of the stage in the run that was waited for last, as its caller saw it.
  virtual std::chrono::nanoseconds stage_time(Stage stage) const = 0;
  /// From now on runs record the start and end of each launch in TIMES, one entry per step; empty: they do not.
  virtual void time_steps(std::span<StepTime> times) = 0;
  /// The plan with STEPS in place of its own: the same nodes with other launches. It uses this runner's tensors, as the
  /// last run left them, and its own scratch buffers. Null if the device has no clock for it.
  virtual std::unique_ptr<Variant> make_variant(std::span<const Step> steps) {
    static_cast<void>(steps);
    return nullptr;
  }
};

/// Runs the launches one after the other on the calling thread, in host memory.
std::unique_ptr<Runner> make_host_runner(const Plan& plan);

}  // namespace saccade
