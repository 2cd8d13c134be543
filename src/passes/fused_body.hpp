#pragma once

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "graph/graph.hpp"

namespace saccade {

/// Collects nodes of a graph in the body of a saccade.Fused, whose values all lie row-major: a body has no memory.
class FusedBody {
 public:
  explicit FusedBody(const Graph& graph) : graph_(graph) {}

  /// Takes NODES into the body, each after those of them that it reads; a saccade.Fused with what is in its body.
  void take(const std::set<NodeId>& nodes);
  /// The body, whose only output is VALUE, which one of the nodes makes. What nodes do alike, one of them does for all.
  std::shared_ptr<const Graph> finish(ValueId value);
  /// What the body's inputs are, in their order, outside.
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
  std::map<ValueId, ValueId> inner_;  ///< by what they are outside
  std::set<NodeId> taken_;
};

}  // namespace saccade
