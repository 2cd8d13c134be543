#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/runner.hpp"
#include "runtime/tactic.hpp"
#include "runtime/tactic_choices.hpp"

namespace saccade {

/// The memory of a value in an execution.
struct Slot {
  enum class Kind : std::uint8_t {
    kUnused,    ///< no live node writes or reads it
    kArena,     ///< at OFFSET in the execution's arena
    kConstant,  ///< the elements of ROOT, a constant of the graph
    kFrame,     ///< the execution's frame number OFFSET (a FrameView)
  };
  ValueId root = ValueId::kNone;  ///< the value that owns the memory: another value for a view, else itself
  Kind kind = Kind::kUnused;
  std::size_t offset = 0;
  std::size_t bytes = 0;
};

/// One launch of a plan, with its tactic for reports.
struct Step {
  NodeId node = NodeId::kNone;
  const Tactic* tactic = nullptr;        ///< null: a view without a launch
  std::string configuration;             ///< of the tactic; empty: its default
  std::shared_ptr<const Launch> launch;  ///< null: a view
  std::size_t scratch_offset = 0;        ///< of the launch's scratch buffer in the arena
  Stage stage = Stage::kModel;
  /// "TACTIC: reason" for every preferred tactic that is for such operators but rejected the node.
  std::vector<std::string> refusals;
};

struct CompileOptions {
  int threads = 0;                   ///< 0: one per available processor
  std::size_t max_memory = 0;        ///< for constants, packed weights and arena, in bytes; 0: default_memory_limit()
  std::vector<std::string> tactics;  ///< requested, by position in Graph::order(); empty: selected
  /// Results of tuning; null: every node gets the first tactic that supports it. Outlives the compilation.
  const TacticChoices* choices = nullptr;
  /// Packed weights, read and recorded; null: all are packed. Outlives the compilation.
  PackedConstants* packed = nullptr;
};

/// A flat list of launches over one arena, for one device and one set of shapes. Immutable; shared between threads.
class Plan {
 public:
  /// Selects a tactic for every node of a lowered graph (after passes, with types), packs weights and plans memory.
  /// Throws Error naming the nodes that no tactic supports.
  static std::shared_ptr<const Plan> compile(Graph graph, const Backend& backend, const CompileOptions& options);
  /// Only selects the tactics. Throws as compile() does, (kUnsupported) naming the nodes that no tactic supports.
  static void check(Graph graph, const Backend& backend, const CompileOptions& options);

  const Graph& graph() const { return graph_; }
  const Backend& backend() const { return *backend_; }
  const std::vector<Step>& steps() const { return steps_; }
  const std::vector<Slot>& slots() const { return slots_; }  ///< by value
  std::size_t arena_bytes() const { return arena_bytes_; }
  /// What counts against CompileOptions::max_memory: constants, packed weights, the arena, inputs and outputs.
  std::size_t memory_bytes() const { return memory_bytes_; }
  /// The size of all intermediate tensors if none shared memory.
  std::size_t tensor_bytes() const { return tensor_bytes_; }
  int threads() const { return threads_; }
  /// The storage aliasing between values.
  const StorageAliasing& storage() const { return *storage_; }

 private:
  friend class PlanBuilder;
  Plan() = default;

  Graph graph_;
  const Backend* backend_ = nullptr;
  std::vector<Step> steps_;
  std::vector<Slot> slots_;
  std::size_t arena_bytes_ = 0;
  std::size_t tensor_bytes_ = 0;
  std::size_t memory_bytes_ = 0;
  int threads_ = 1;
  std::shared_ptr<const StorageAliasing> storage_;
};

/// The mutable state of a running plan: the arena and the bound launches. One thread at a time; several executions of
/// one plan may run concurrently. Move-only.
class Execution {
 public:
  explicit Execution(std::shared_ptr<const Plan> plan);

  const Plan& plan() const { return *plan_; }
  /// The graph input to be filled, or output to be read after run(), with index I; row-major, in host-visible memory.
  /// An input's address is constant; an output is valid until the second submit() or run() from now on.
  TensorView input(std::size_t i) const;
  TensorView output(std::size_t i) const;
  /// The frames that the kFrame inputs read, in the order of the inputs. Set them before run() or submit().
  std::span<FrameView> frames() const { return runner_->frames(); }
  /// The only one; null if the graph has none.
  FrameView* frame() const { return frames().empty() ? nullptr : frames().data(); }
  /// The memory from which frames are read without a host copy; valid as long as the process.
  FrameMemory& frame_memory() const { return runner_->frame_memory(); }

  /// Runs all launches and returns when the outputs are available. Does not allocate after its first call.
  void run() {
    submit();
    wait();
  }
  /// The same asynchronously: submit() starts the device, wait() returns when it is done and must be called before the
  /// next submit(). The frame, its pixels and inputs must not change in between.
  void submit() { runner_->submit(); }
  void wait() { runner_->wait(); }
  /// Whether submit() starts anything; otherwise wait() does all the work.
  bool overlaps() const { return runner_->overlaps(); }
  /// For running several at once (Runner::group()).
  Runner& runner() { return *runner_; }
  /// Fills the arena with NaN patterns, including inputs, so that reads of uninitialised memory show.
  void poison() { runner_->poison(); }
  /// See Runner::leave_on_device().
  void leave_on_device(bool leaves) { runner_->leave_on_device(leaves); }
  /// See Runner::enqueue().
  void enqueue(void* stream, std::span<const void* const> inputs, std::span<void* const> outputs) {
    runner_->enqueue(stream, inputs, outputs);
  }
  /// See Runner::use_device_tensors().
  void use_device_tensors(std::span<const void* const> inputs, std::span<void* const> outputs) {
    runner_->use_device_tensors(inputs, outputs);
  }
  /// Time of the last run() by stage.
  std::chrono::nanoseconds stage_time(Stage stage) const { return runner_->stage_time(stage); }

  /// From now on run() records the start and end of each launch in TIMES, one entry per step; views are not written.
  /// Empty: nothing is recorded and no clock is read. The entries outlive the runs. Throws Error on a wrong size.
  void time_steps(std::span<StepTime> times);

 private:
  std::shared_ptr<const Plan> plan_;
  std::unique_ptr<Runner> runner_;  // refers to the plan: goes first
};

/// The shape of data output I of the graph after run(), cropped to its extents.
Shape data_output_shape(const Execution& execution, std::size_t i);
/// Copies data output I to TO, which has its type and data_output_shape(). Allocates nothing.
void read_data_output(const Execution& execution, std::size_t i, const TensorView& to);
/// Copies of all data outputs.
std::vector<Tensor> read_data_outputs(const Execution& execution);

}  // namespace saccade
