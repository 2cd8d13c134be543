#pragma once

#include <array>
#include <map>
#include <optional>
#include <vector>

#include "cuda/driver/device.hpp"
#include "cuda/driver/queue.hpp"
#include "cuda/executor/results.hpp"
#include "cuda/executor/upload.hpp"
#include "runtime/plan.hpp"

namespace saccade::cuda {

using BoundLaunches = std::vector<std::unique_ptr<BoundLaunch>>;  // by step; null: a view

/// Runs a plan on a device: the upload of its frame and inputs, its launches and its outputs' download are one CUDA
/// graph, captured here and replayed by submit() with one launch, for which wait() waits once. Where there is to be no
/// graph, or the driver refuses one, the same work is enqueued call by call.
class DeviceRunner : public Runner {
 public:
  DeviceRunner(Device& device, const Plan& plan, bool graph);
  DeviceRunner(const DeviceRunner&) = delete;
  DeviceRunner& operator=(const DeviceRunner&) = delete;
  ~DeviceRunner() override;

  TensorView view(ValueId id) const override;
  FrameView* frame() override { return has_frame_ ? &frame_ : nullptr; }
  FrameMemory& frame_memory() override { return pinned_frame_memory(device_); }
  bool overlaps() const override { return true; }
  void submit() override;
  void wait() override;
  void poison() override;
  void leave_on_device(bool leaves) override;
  void time_steps(std::span<StepTime> times) override;
  std::chrono::nanoseconds stage_time(Stage stage) const override {
    return stage_times_[static_cast<std::size_t>(stage)];
  }

  std::unique_ptr<RunGroup> group(std::span<Runner* const> others) override;
  std::unique_ptr<Variant> make_variant(std::span<const Step> steps) override;

  // What a group of runs (run_group.hpp) does in its place.
  const std::string& name() const { return plan_.graph().name; }
  Queue& queue() { return queue_; }
  std::vector<Copy> inputs() const;
  bool is_timed() const { return !times_.empty(); }
  /// Before the work is enqueued.
  void prepare_results() { results_->prepare(); }
  /// All but the upload.
  void enqueue_branch();
  /// When the work is done. Throws what work on the host threw.
  void finish();
  void set_model_time(std::chrono::nanoseconds time);

 private:
  /// A graph input in memory that the host fills, and where it lies on the device.
  struct Staged {
    PinnedMemory memory;
    Copy copy;
  };

  TensorView device_view(ValueId id);
  TensorView input_view(ValueId id);
  void stage_input(ValueId id);
  void stage_output(ValueId id);
  BoundLaunches bind(std::span<const Step> steps, std::byte* scratch, Queue& queue);
  void enqueue();
  /// Throws what the launch threw, naming its node.
  void launch(std::size_t step);
  void record(const Event& event);
  void read_times();
  void measure_costs();
  void tell_costs();

  Device& device_;
  const Plan& plan_;
  bool graph_;
  Queue queue_;
  DeviceMemory arena_;
  std::map<ValueId, DeviceMemory> renamed_;  // constants that are read by other names
  FrameView frame_;
  bool has_frame_ = false;
  bool stays_ = false;  // inputs and outputs lie on the device from run to run
  std::vector<Staged> inputs_;
  std::vector<Copy> outputs_;
  std::map<ValueId, TensorView> views_;    // but for outputs that a run makes
  std::map<ValueId, std::size_t> places_;  // those, in the results
  BoundLaunches launches_;
  std::optional<Upload> upload_;
  std::optional<Results> results_;
  GraphExec executable_;  // null: work is enqueued call by call
  Clock::time_point start_;
  std::array<std::chrono::nanoseconds, 3> stage_times_{};
  std::span<StepTime> times_;
  std::span<StepTime> running_times_;            // of the run under way
  std::vector<Event> events_;                    // one a step, and where the run began last; without a graph
  std::vector<std::chrono::nanoseconds> costs_;  // by step, of the graph; empty: nobody asked
};

}  // namespace saccade::cuda
