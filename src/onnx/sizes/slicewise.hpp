#pragma once

#include <optional>
#include <vector>

#include "ops/interpreter/infer.hpp"

namespace saccade {

/// A node whose input AT is valid only in part along AXIS.
struct Flow {
  const Graph& graph;
  KnownValues& known;
  const Node& node;
  std::size_t at;
  int axis;

  bool has(std::size_t i) const { return i < node.inputs.size() && node.inputs[i] != ValueId::kNone; }
  const Shape& shape(std::size_t i) const { return graph.value(node.inputs[i]).type.shape; }
  const Shape& from() const { return shape(at); }
  const Shape& to() const { return graph.value(node.outputs[0]).type.shape; }
  std::int64_t integer(std::string_view name, std::int64_t otherwise) const {
    return node.attributes.integer(name, otherwise);
  }
  /// An input's contents; nothing if it is omitted or not known.
  std::vector<std::int64_t> integers(std::size_t i) const;
};

/// If NODE, whose types are known, works along the axis slice by slice: the axis of its outputs that is valid to the
/// same extent.
std::optional<int> axis_behind(const Flow& flow);

/// Whether the inputs of fixed size are compatible with any size along AXIS of the output. OPEN says which inputs are
/// open.
bool others_allow(const Graph& graph, const Node& node, int axis, const std::vector<bool>& open);

/// Whether an operator that axis_behind() knows may process its input AT at full capacity: invalid elements do no harm.
bool works_on_all(const Node& node, std::size_t at);

}  // namespace saccade
