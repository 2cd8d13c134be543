#pragma once

#include "runtime/tactic.hpp"

namespace saccade::cpu {

/// A node alone in a graph, to ask tactics about it with other types and layouts than it has in its own graph.
class IsolatedNode {
 public:
  explicit IsolatedNode(const NodeContext& context);

  NodeContext context() const { return {graph_, graph_.node(node_)}; }
  /// Its float32 operands and outputs become DTYPE. Constants of more than a few elements are left undefined.
  void compute_in(DType dtype);
  /// Its output and the operands of the same rank that are not constant become channels-last, as choose_layouts does.
  void lay_out_channels_last();

 private:
  Graph graph_;
  NodeId node_;
};

}  // namespace saccade::cpu
