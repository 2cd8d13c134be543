#pragma once

#include <map>
#include <set>

#include "ops/op.hpp"

namespace saccade {

/// Values whose contents follow from constants and shapes alone, worked out by the reference kernels when asked for and
/// kept. Belongs to one graph, to which nodes may be added meanwhile.
class KnownValues {
 public:
  explicit KnownValues(const Graph& graph) : graph_(graph) {}
  /// The contents, or null where they depend on the graph's inputs or are far too large for a shape.
  const Tensor* get(ValueId id);

  /// Lets an input of the graph hold CONTENTS from now on.
  void assume(ValueId id, Tensor contents) { assumed_.insert_or_assign(id, std::move(contents)); }
  /// The inputs whose assumed contents something asked for.
  const std::set<ValueId>& relied_on() const { return relied_on_; }

 private:
  const Tensor* get_deeper(ValueId id);

  const Graph& graph_;
  std::map<ValueId, std::optional<Tensor>> computed_;
  std::map<ValueId, Tensor> assumed_;
  std::set<ValueId> relied_on_;
  int depth_ = 0;
};

/// Sets the type of every node's outputs, in order. Throws Error (kUnsupported, kInvalidFile) naming the node.
void infer_types(Graph& graph);
/// The types of one node's outputs. Throws the same.
std::vector<TensorType> infer_node(const Graph& graph, const Node& node, KnownValues& known);

}  // namespace saccade
