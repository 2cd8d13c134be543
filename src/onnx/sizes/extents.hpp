#pragma once

#include <map>
#include <string>

#include "onnx/sizes/intervals.hpp"
#include "onnx/sizes/rooms.hpp"
#include "ops/interpreter/sized.hpp"

namespace saccade {

/// Which values' sizes depend on the data, while a graph is built. Such a value's shape has room for as much as there
/// can be; along some axes only the first elements count, as many as another value says, and the rest is there for
/// nobody to look at. A node that works slice by slice may see the rest; every other runs as a saccade.Sized
/// (sized.hpp) on what counts alone.
class Extents {
 public:
  /// All outlive this.
  Extents(Graph& graph, KnownValues& known, MemoryBudget* budget)
      : graph_(graph), known_(known), fixed_(graph, budget), ranges_(graph, known, fixed_), intervals_(graph, fixed_) {}

  /// Whether only the run knows a size that NODE sees or makes.
  bool has_open_sizes(const Node& node) const;
  /// Adds such a node. Throws Error naming it where there is no bound to what it makes.
  void add(Node node);
  /// Learns from NODE, whose sizes are known and which is still to be added, what its output can be. Where that is one
  /// thing alone the output becomes a constant, and the node is not needed: false.
  bool needs(const Node& node);
  /// Learns between what the elements of its outputs lie from NODE, which has been added.
  void learn(const Node& node);

  bool is_open(ValueId id) const { return counts_.contains(id); }
  const Range* range(ValueId id) const { return ranges_.get(id); }
  /// What is added from now on, to end_branch(), runs where CONDITION, one bool, is WANTED, and need not be able to run
  /// elsewhere. Branches nest. NAME begins the names of what this adds.
  void begin_branch(std::string name, ValueId condition, bool wanted) {
    guards_.push_back({std::move(name), condition, wanted, ValueId::kNone});
  }
  void end_branch() { guards_.pop_back(); }

  /// Makes graph outputs of the counts of graph outputs.
  void bound_outputs();

 private:
  using Counts = std::map<int, ValueId>;  ///< by axis

  struct Guard {
    std::string name;
    ValueId condition;
    bool wanted;
    ValueId made;  ///< whether this branch runs, and all around it; kNone: nothing has asked yet
  };

  const Counts& counts_of(ValueId id) const;
  std::vector<bool> open_inputs(const Node& node) const;
  /// By axis of the node's outputs: the counts that go through it unchanged. ALL: whether that is all counts of its
  /// inputs, so that the node may work on the inputs as a whole.
  Counts passed_counts(const Node& node, bool& all) const;
  bool add_whole(const Node& node);
  bool add_shape(const Node& node);
  Tensor counts_in_shape(const Node& node, int rank, const TensorType& output) const;
  void add_sized(Node node);
  void bound_output(const Node& node, std::size_t i, const Room& room, const Counts& passed, SizedForm& form);
  ValueId guard();
  ValueId add_count(const std::string& name, std::int64_t most);
  void set_types(const Node& node, const std::vector<TensorType>& types);

  Graph& graph_;
  KnownValues& known_;
  KnownValues fixed_;  // of constants and shapes alone: no input's assumed contents are relied on for what is of data
  Ranges ranges_;
  Intervals intervals_;
  std::map<ValueId, Counts> counts_;
  std::vector<Guard> guards_;
};

}  // namespace saccade
