#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/memory_planner.hpp"
#include "runtime/plan.hpp"

namespace saccade {

class StorageAliasing;

/// The arena of an execution: where each value and each launch's scratch buffer lies.
struct ArenaLayout {
  std::vector<Slot> slots;                     ///< by value
  std::map<std::size_t, std::size_t> scratch;  ///< offsets by step
  std::size_t bytes = 0;
  std::size_t tensor_bytes = 0;  ///< of all intermediate tensors if none shared memory
};

/// Collects the lifetimes of all tensors and scratch buffers of a plan, then assigns their offsets. Steps count from 0.
/// All arguments outlive it. One thread.
class ArenaBuilder {
 public:
  /// STAGES of the steps; empty: each step has a time of its own.
  ArenaBuilder(const Graph& graph, const StorageAliasing& storage, MemoryBudget& budget, std::vector<Stage> stages);

  /// Graph inputs and outputs keep their memory to the end, so that a run can be repeated without filling inputs again.
  void add_inputs();
  void add_outputs();
  /// The step reads or writes the value. Throws Error for a value that can't be stored or exceeds the budget.
  void use(ValueId id, std::size_t step);
  void add_scratch(std::size_t step, std::size_t bytes);
  /// Assigns all offsets, and charges the budget for the arena and for the copies of graph inputs and outputs that the
  /// caller of a plan holds. Throws Error.
  ArenaLayout build();

 private:
  /// Lifetimes in MemoryRequest: step I runs at time I + 1, or at any time of its kPre or kPost stage; graph inputs are
  /// written at 0.
  static constexpr int kInputTime = 0;
  static constexpr int kEndTime = 1 << 30;
  struct Times {
    int first = 0;
    int last = 0;
  };
  Times times_of(std::size_t step) const;

  Slot& slot(ValueId id) { return layout_.slots[static_cast<std::size_t>(id)]; }
  void use_at(ValueId id, int time);
  void request(ValueId id, int time);
  void charge_arena();
  void charge_edges(const char* what, std::span<const ValueId> ids);
  void assign_offsets();
  std::string describe_producer(ValueId id) const;

  const Graph& graph_;
  const StorageAliasing& storage_;
  MemoryBudget& budget_;
  std::vector<Stage> stages_;
  ArenaLayout layout_;
  std::vector<MemoryRequest> requests_;
  std::vector<ValueId> request_values_;                  // by request; kNone: scratch
  std::map<ValueId, std::size_t> request_of_;            // by root
  std::map<std::size_t, std::size_t> scratch_requests_;  // by step
};

}  // namespace saccade
