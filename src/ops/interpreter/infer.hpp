#pragma once

#include <map>
#include <set>

#include "base/memory_budget.hpp"
#include "ops/core/op.hpp"

namespace saccade {

/// Values whose contents follow from constants and shapes alone, worked out by the reference kernels when asked for and
/// kept. Belongs to one graph, to which nodes may be added meanwhile.
class KnownValues {
 public:
  /// What is kept counts against BUDGET, if there is one, which outlives this.
  explicit KnownValues(const Graph& graph, MemoryBudget* budget = nullptr);
  /// The contents, or null where they depend on the graph's inputs or are far too large for a shape or take far
  /// too long. Throws Error naming a node for whose outputs the budget has no room.
  const Tensor* get(ValueId id);

  /// Whether STEPS more of a reference kernel may be taken beside those so far; then they are.
  bool afford(double steps);

  /// Lets an input of the graph hold CONTENTS from now on.
  void assume(ValueId id, Tensor contents) { assumed_.insert_or_assign(id, std::move(contents)); }
  /// The inputs whose assumed contents something asked for.
  const std::set<ValueId>& relied_on() const { return relied_on_; }

 private:
  const Tensor* get_deeper(ValueId id);

  void charge(const Node& node);

  const Graph& graph_;
  MemoryBudget* budget_;
  std::map<ValueId, std::optional<Tensor>> computed_;
  std::map<ValueId, Tensor> assumed_;
  std::set<ValueId> relied_on_;
  int depth_ = 0;
  double steps_left_;
};

/// Sets the type of every node's outputs, in order. BUDGET as in KnownValues. Throws Error (kUnsupported, kInvalidFile)
/// naming the node.
void infer_types(Graph& graph, MemoryBudget* budget = nullptr);
/// The types of one node's outputs. Throws the same.
std::vector<TensorType> infer_node(const Graph& graph, const Node& node, KnownValues& known);

}  // namespace saccade
