#pragma once

#include <map>

#include "ops/op.hpp"

namespace saccade {

/// Values whose contents follow from constants and shapes alone, worked out by the reference kernels when asked for and
/// kept. Belongs to one graph; forget() after the graph changes.
class KnownValues {
 public:
  explicit KnownValues(const Graph& graph) : graph_(graph) {}
  /// The contents, or null where they depend on the graph's inputs.
  const Tensor* get(ValueId id);

 private:
  const Graph& graph_;
  std::map<ValueId, std::optional<Tensor>> computed_;
};

/// Sets the type of every node's outputs, in order. Throws Error (kUnsupported, kInvalidFile) naming the node.
void infer_types(Graph& graph);
/// The types of one node's outputs. Throws the same.
std::vector<TensorType> infer_node(const Graph& graph, const Node& node, KnownValues& known);

}  // namespace saccade
