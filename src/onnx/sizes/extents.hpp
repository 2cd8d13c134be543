#pragma once

#include <map>
#include <string>

#include "onnx/sizes/capacities.hpp"
#include "onnx/sizes/intervals.hpp"
#include "ops/interpreter/sized.hpp"

namespace saccade {

/// Tracks values whose sizes depend on the data while a graph is built. The shape of such a value is its capacity.
/// Along its open axes only the first elements are valid, as many as a separate count says; the rest is unspecified. A
/// node that works slice by slice may process the full capacity; any other runs as a saccade.Sized (sized.hpp) on the
/// valid elements alone.
class Extents {
 public:
  /// Borrows all arguments.
  Extents(Graph& graph, KnownValues& known, MemoryBudget* budget)
      : graph_(graph), known_(known), fixed_(graph, budget), ranges_(graph, known, fixed_), intervals_(graph, fixed_) {}

  /// Whether NODE has an input or output whose size is known only at run time.
  bool has_open_sizes(const Node& node) const;
  /// Adds such a node. Throws Error naming it if an output has no bound.
  void add(Node node);
  /// Infers the range of NODE's output; NODE has known sizes and is not added yet. If the range is a single value, the
  /// output becomes a constant and the node is not needed: false.
  bool needs(const Node& node);
  /// Infers the intervals of the outputs of NODE, which has been added.
  void learn(const Node& node);

  bool is_open(ValueId id) const { return counts_.contains(id); }
  const Range* range(ValueId id) const { return ranges_.get(id); }
  /// Nodes added from now until end_branch() run only where CONDITION, one bool, equals WANTED, and need not be
  /// executable otherwise. Branches nest. NAME is the prefix of added names.
  void begin_branch(std::string name, ValueId condition, bool wanted) {
    guards_.push_back({std::move(name), condition, wanted, ValueId::kNone});
  }
  void end_branch() { guards_.pop_back(); }

  /// Makes the counts of graph outputs graph outputs themselves.
  void bound_outputs();

 private:
  using Counts = std::map<int, ValueId>;  ///< by axis

  struct Guard {
    std::string name;
    ValueId condition;
    bool wanted;
    ValueId made;  ///< whether this branch and all around it run; kNone: not needed yet
  };

  const Counts& counts_of(ValueId id) const;
  std::vector<bool> open_inputs(const Node& node) const;
  /// By axis of the node's outputs: the counts that pass through it unchanged. ALL: whether these are all counts of its
  /// inputs, so that the node may process the inputs at full capacity.
  Counts passed_counts(const Node& node, bool& all) const;
  bool add_whole(const Node& node);
  bool add_shape(const Node& node);
  Tensor counts_in_shape(const Node& node, int rank, const TensorType& output) const;
  void add_sized(Node node);
  void bound_output(const Node& node, std::size_t i, const Capacity& capacity, const Counts& passed, SizedForm& form);
  ValueId guard();
  ValueId add_count(const std::string& name, std::int64_t most);
  void set_types(const Node& node, const std::vector<TensorType>& types);

  Graph& graph_;
  KnownValues& known_;
  KnownValues
      fixed_;  // from constants and shapes alone: assumed contents of inputs are not used for data-dependent sizes
  Ranges ranges_;
  Intervals intervals_;
  std::map<ValueId, Counts> counts_;
  std::vector<Guard> guards_;
};

}  // namespace saccade
