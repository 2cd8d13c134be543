#pragma once

#include <array>
#include <map>
#include <optional>
#include <vector>

#include "cuda/driver/device.hpp"
#include "cuda/driver/queue.hpp"
#include "cuda/executor/branches.hpp"
#include "cuda/executor/download.hpp"
#include "cuda/executor/upload.hpp"
#include "runtime/plan.hpp"

namespace saccade::cuda {

using BoundLaunches = std::vector<std::unique_ptr<BoundLaunch>>;  // by step; null: a view

/// Executes a plan on a device. Upload of frame and inputs, launches and download of outputs are captured as one CUDA
/// graph, which submit() launches and wait() waits for. Without a graph, or if the driver refuses one, the same work is
/// enqueued call by call.
class GraphExecutor : public Runner {
 public:
  GraphExecutor(Device& device, const Plan& plan, bool graph);
  GraphExecutor(const GraphExecutor&) = delete;
  GraphExecutor& operator=(const GraphExecutor&) = delete;
  ~GraphExecutor() override;

  TensorView view(ValueId id) const override;
  std::span<FrameView> frames() override { return frames_; }
  FrameMemory& frame_memory() override { return pinned_frame_memory(device_); }
  bool overlaps() const override { return true; }
  void submit() override;
  void wait() override;
  void poison() override;
  void leave_on_device(bool leaves) override;
  void enqueue(void* stream, std::span<const void* const> inputs, std::span<void* const> outputs) override;
  void use_device_tensors(std::span<const void* const> inputs, std::span<void* const> outputs) override;
  void time_steps(std::span<StepTime> times) override;
  std::chrono::nanoseconds stage_time(Stage stage) const override {
    return stage_times_[static_cast<std::size_t>(stage)];
  }

  std::unique_ptr<RunGroup> group(std::span<Runner* const> others) override;
  std::unique_ptr<Variant> make_variant(std::span<const Step> steps) override;

  // Interface for GraphExecutorGroup (run_group.hpp).
  const std::string& name() const { return plan_.graph().name; }
  Queue& queue() { return queue_; }
  std::vector<Copy> inputs() const;
  /// Its launches that read frames, by frame.
  FrameReaders frame_readers() const { return by_frame(queue_.readers, frames_); }
  bool is_timed() const { return !times_.empty(); }
  /// Before the work is enqueued.
  void prepare_download() { download_->prepare(); }
  /// Enqueues everything but the upload.
  void enqueue_branch();
  /// When the work is complete. Throws the failure of a host function or an out-of-range index.
  void finish();
  void set_model_time(std::chrono::nanoseconds time);

 private:
  /// A graph input: pinned staging memory and its copy to the device.
  struct Staged {
    ValueId id = ValueId::kNone;
    PinnedMemory memory;
    Copy copy;
  };

  TensorView device_view(ValueId id);
  /// The elements of a constant of the graph.
  std::byte* constant_on_device(ValueId id);
  TensorView input_view(ValueId id);
  void stage_input(ValueId id);
  /// Output number I.
  void stage_output(std::size_t i);
  BoundLaunches bind(std::span<const Step> steps, std::byte* scratch, Queue& queue);
  BoundLaunches bind_branches();
  void enqueue();
  void enqueue_in(CUstream stream);
  void copy_outputs(std::span<void* const> outputs, CUstream stream);
  void prepare_copies();
  bool is_read_by_host(std::size_t i) const;
  void forget_device_tensors();
  void enqueue_branches();
  /// Throws what the launch throws, with its node's name.
  void launch(std::size_t step);
  void record(const Event& event);
  void read_times();
  void measure_costs();
  void report_costs();

  Device& device_;
  const Plan& plan_;
  bool graph_;
  Queue queue_;
  DeviceMemory arena_;
  std::map<ValueId, DeviceMemory> constants_;  // those that launches read under other names, or outputs
  std::vector<FrameView> frames_;
  bool on_device_ = false;  // inputs and outputs stay on the device between runs
  std::vector<Staged> inputs_;
  std::vector<Copy> outputs_;
  // Of use_device_tensors(); empty: all are in view().
  std::vector<const void*> device_inputs_;
  std::vector<void*> device_outputs_;
  std::map<ValueId, TensorView> views_;    // except for outputs in the download buffer
  std::map<ValueId, std::size_t> places_;  // offsets of those
  // Of a plan for several frames; empty: one stream.
  std::vector<BranchStep> branches_;  ///< by step
  std::vector<Stream> streams_;       ///< those but the queue's
  std::vector<Event> branch_events_;  ///< by step; null: it is not awaited
  Event forked_;
  BoundLaunches launches_;
  std::optional<Upload> upload_;
  std::optional<Download> download_;
  GraphExec executable_;  // null: work is enqueued call by call
  Clock::time_point start_;
  Clock::duration submission_{};  // of the current run
  // Of the run that was waited for last: the next one may have started.
  std::array<std::chrono::nanoseconds, 3> stage_times_{};
  Event enqueued_;  ///< when the last run of enqueue() is complete; null: there was none
  std::span<StepTime> times_;
  std::span<StepTime> running_times_;            // of the current run
  std::vector<Event> events_;                    // one per step, and the start of the run last; without a graph only
  std::vector<std::chrono::nanoseconds> costs_;  // by step of the graph; empty until a profile requests them
};

}  // namespace saccade::cuda
