#pragma once

#include <string>
#include <utility>
#include <vector>

#include "graph/graph.hpp"

namespace saccade {

/// A change to a graph that a pass proposes: nodes and constants to add, and values whose readers move to other values.
/// Nodes are not removed explicitly: a node whose outputs have no readers left is removed with the patch.
class Patch {
 public:
  /// NOTE describes the patch for the log: "fold bn1 into conv1".
  Patch(const Graph& graph, std::string note) : note_(std::move(note)), first_(graph.value_count()) {}

  /// A new value holding TENSOR.
  ValueId add_constant(std::string name, Tensor tensor);
  /// A new value, to be produced by a new node. Its type is inferred when the patch is applied unless TYPE is given.
  ValueId add_value(std::string name, TensorType type = {}, Layout layout = Layout::kRowMajor);
  /// Node::outputs are values of add_value().
  void add_node(Node node) { nodes_.push_back(std::move(node)); }
  /// A node with one new output of the same name as the node; returns the output.
  ValueId add_node_with_output(Node node, TensorType type = {}, Layout layout = Layout::kRowMajor);
  /// All readers of OLD, graph outputs included, read REPLACEMENT instead, except the patch's own nodes. A graph output
  /// keeps its name.
  void replace(ValueId old, ValueId replacement) { replaced_.emplace_back(old, replacement); }
  /// Graph output OLD becomes REPLACEMENT, which may be of another type, and keeps its name.
  void replace_output(ValueId old, ValueId replacement) { outputs_.emplace_back(old, replacement); }
  /// Replaces the inputs of one node only.
  void rewire(NodeId node, std::vector<ValueId> inputs) { rewired_.emplace_back(node, std::move(inputs)); }
  /// Changes a value's memory layout, not its meaning.
  void set_layout(ValueId value, Layout layout) { layouts_.emplace_back(value, layout); }

  /// Removes a node without readers that no replacement of this patch made unread.
  void drop(NodeId node) { dropped_.push_back(node); }

  const std::string& note() const { return note_; }
  const std::vector<std::pair<ValueId, ValueId>>& replaced() const { return replaced_; }

 private:
  friend class Graph;
  ValueId next() const { return static_cast<ValueId>(first_ + values_.size()); }

  std::string note_;
  std::size_t first_;
  std::vector<Value> values_;
  std::vector<Node> nodes_;
  std::vector<std::pair<ValueId, ValueId>> replaced_;
  std::vector<std::pair<ValueId, ValueId>> outputs_;
  std::vector<std::pair<NodeId, std::vector<ValueId>>> rewired_;
  std::vector<std::pair<ValueId, Layout>> layouts_;
  std::vector<NodeId> dropped_;
};

}  // namespace saccade
