#pragma once

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "graph/graph.hpp"

namespace saccade {

/// Builds the body of a saccade.Fused from nodes of a graph. Its values are row-major, because they are not in memory.
class FusedBody {
 public:
  explicit FusedBody(const Graph& graph) : graph_(graph) {}

  /// Copies NODES into the body in topological order; of a saccade.Fused, the nodes of its body.
  void take(const std::set<NodeId>& nodes);
  /// The body with VALUE, computed by one of the nodes, as its only output. Identical nodes are merged.
  std::shared_ptr<const Graph> finish(ValueId value);
  /// The values of the graph that are the body's inputs, in order.
  const std::vector<ValueId>& inputs() const { return inputs_; }

 private:
  void take(NodeId id, const std::set<NodeId>& nodes);
  void copy(const Node& node);
  void inline_body(const Node& fused);
  ValueId inner(ValueId outer);
  ValueId copy_constant(const Value& value);

  const Graph& graph_;
  Graph body_;
  std::vector<ValueId> inputs_;
  std::map<ValueId, ValueId> inner_;  ///< by value of the graph
  std::set<NodeId> taken_;
};

}  // namespace saccade
