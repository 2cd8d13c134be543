#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/runner.hpp"
#include "runtime/tactic.hpp"
#include "runtime/tactic_choices.hpp"

namespace saccade {

/// Where a value lives while a plan runs.
struct Slot {
  enum class Kind : std::uint8_t {
    kUnused,    ///< no live node makes or reads it
    kArena,     ///< at OFFSET in the execution's arena
    kConstant,  ///< the elements of ROOT, a constant of the graph
    kFrame,     ///< the execution's frame (a FrameView)
  };
  ValueId root = ValueId::kNone;  ///< whose memory this is: another value's for a view, else its own
  Kind kind = Kind::kUnused;
  std::size_t offset = 0;
  std::size_t bytes = 0;
};

/// One launch of a plan, and what a profile wants to know about it.
struct Step {
  NodeId node = NodeId::kNone;
  const Tactic* tactic = nullptr;        ///< null: a view, nothing to run
  std::string configuration;             ///< of the tactic, where one was asked for
  std::shared_ptr<const Launch> launch;  ///< null: a view
  std::size_t scratch_offset = 0;        ///< of Launch::scratch_bytes() in the arena
  Stage stage = Stage::kModel;
  /// "TACTIC: why not", for each preferred tactic that is for such operators; none: the device has no kernel for them.
  std::vector<std::string> refusals;
};

struct CompileOptions {
  int threads = 0;                   ///< 0: one per core
  std::size_t max_memory = 0;        ///< for constants, packed weights and arena, in bytes; 0: default_memory_limit()
  std::vector<std::string> tactics;  ///< by place in Graph::order(): these; empty: choose
  /// What was measured to be fastest; null: every node gets the first tactic that supports it. Read while compiling.
  const TacticChoices* choices = nullptr;
};

/// A flat list of launches over one arena, for one device and one set of shapes. Immutable; share it freely.
class Plan {
 public:
  /// Chooses a tactic for every node of a lowered graph (passes done, types known), packs weights, plans memory.
  /// Throws Error naming a node that no tactic can run.
  static std::shared_ptr<const Plan> compile(Graph graph, const Backend& backend, const CompileOptions& options);

  const Graph& graph() const { return graph_; }
  const Backend& backend() const { return *backend_; }
  const std::vector<Step>& steps() const { return steps_; }
  const std::vector<Slot>& slots() const { return slots_; }  ///< by value
  std::size_t arena_bytes() const { return arena_bytes_; }
  /// What all intermediate tensors would take if none shared memory.
  std::size_t tensor_bytes() const { return tensor_bytes_; }
  int threads() const { return threads_; }
  /// Where values lie in each other's memory.
  const Places& places() const { return *places_; }

 private:
  friend class PlanBuilder;
  Plan() = default;

  Graph graph_;
  const Backend* backend_ = nullptr;
  std::vector<Step> steps_;
  std::vector<Slot> slots_;
  std::size_t arena_bytes_ = 0;
  std::size_t tensor_bytes_ = 0;
  int threads_ = 1;
  std::shared_ptr<const Places> places_;
};

/// What changes while a plan runs: the arena and the bindings. One thread at a time; several of one plan may run side
/// by side. Move-only.
class Execution {
 public:
  explicit Execution(std::shared_ptr<const Plan> plan);

  const Plan& plan() const { return *plan_; }
  /// A graph input to be filled, or an output to be read after run(), by its place; row-major, in memory that the host
  /// sees. An input stays where it is; an output of this run stays until the second submit() or run() from now on.
  TensorView input(std::size_t i) const;
  TensorView output(std::size_t i) const;
  /// The frame that a kFrame input reads; null where the graph has none. Set it before run() or submit().
  FrameView* frame() const { return runner_->frame(); }
  /// Where frames are read without a copy on the host; lives as long as the process.
  FrameMemory& frame_memory() const { return runner_->frame_memory(); }

  /// Runs all launches and returns when the outputs are there. Allocates nothing after its first call.
  void run() {
    submit();
    wait();
  }
  /// The same in two steps: a device begins, and goes on beside the caller until wait(), which must be called before
  /// the next submit(). The frame, its pixels and inputs stay as they are meanwhile.
  void submit() { runner_->submit(); }
  void wait() { runner_->wait(); }
  /// Whether submit() begins anything; where not, wait() does all the work.
  bool overlaps() const { return runner_->overlaps(); }
  /// For those who run several at once (Runner::group()).
  Runner& runner() { return *runner_; }
  /// Fills the arena with NaN patterns, inputs included: what a plan reads without having written shows.
  void poison() { runner_->poison(); }
  /// From now on run() leaves inputs and outputs where the device has them: Runner::leave_on_device().
  void leave_on_device(bool leaves) { runner_->leave_on_device(leaves); }
  /// Time of the last run() by stage.
  std::chrono::nanoseconds stage_time(Stage stage) const { return runner_->stage_time(stage); }

  /// From now on run() writes here when each launch ran: an entry a step of the plan, views left alone. Empty: it
  /// writes nothing and reads no clock for it. The entries outlive the runs. Throws Error on a wrong number of them.
  void time_steps(std::span<StepTime> times);

 private:
  std::shared_ptr<const Plan> plan_;
  std::unique_ptr<Runner> runner_;  // refers to the plan: goes first
};

/// The shape of answer I of the graph after run(), cut to its extents.
Shape answer_shape(const Execution& execution, std::size_t i);
/// Copies answer I to TO, which has its type and answer_shape(). Allocates nothing.
void read_answer(const Execution& execution, std::size_t i, const TensorView& to);
/// Copies of all answers.
std::vector<Tensor> read_answers(const Execution& execution);

}  // namespace saccade
