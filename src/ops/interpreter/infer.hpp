#pragma once

#include <map>
#include <set>

#include "base/memory_budget.hpp"
#include "ops/core/op.hpp"

namespace saccade {

/// Values whose contents follow from constants and shapes alone, computed by the reference kernels on demand and
/// cached. Belongs to one graph, to which nodes may be added meanwhile.
class KnownValues {
 public:
  /// Cached values count against BUDGET, if there is one. Borrows both.
  explicit KnownValues(const Graph& graph, MemoryBudget* budget = nullptr);
  /// The contents, or null if they depend on the graph's inputs, are too large for a shape, or take too long. Throws
  /// Error naming a node whose outputs exceed the budget.
  const Tensor* get(ValueId id);

  /// Takes STEPS more of a reference kernel from the limit; false if it is exhausted.
  bool afford(double steps);

  /// Sets the contents of an input of the graph from now on.
  void assume(ValueId id, Tensor contents) { assumed_.insert_or_assign(id, std::move(contents)); }
  /// The inputs whose assumed contents were read.
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

/// Infers the type of every node's outputs, in order. BUDGET as in KnownValues. Throws Error (kUnsupported,
/// kInvalidFile) naming the node.
void infer_types(Graph& graph, MemoryBudget* budget = nullptr);
/// The types of one node's outputs. Throws the same errors.
std::vector<TensorType> infer_node(const Graph& graph, const Node& node, KnownValues& known);

}  // namespace saccade
