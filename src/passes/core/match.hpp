#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "passes/core/pass.hpp"

namespace saccade {

/// The one node that reads the value, and reads it once; kNone where it has more readers, none, or is an output of the
/// graph. Whoever fuses a node into its reader, or a reader into its producer, needs this.
NodeId sole_reader(const Graph& graph, ValueId id);

/// The value's producer if nothing but READER reads the value; else null.
const Node* producer_for(const Graph& graph, ValueId id, NodeId reader);

/// Whether the readers of OLD may read REPLACEMENT: same type and layout, and the graph's inputs and outputs stay apart
/// from each other, as each needs a name of its own.
bool may_replace(const Graph& graph, ValueId old, ValueId replacement);

/// The element of a float32 constant that has just one.
std::optional<float> scalar_constant(const Graph& graph, ValueId id);

/// Whether the value is a numeric constant all of whose elements are NUMBER.
bool is_filled_with(const Graph& graph, ValueId id, double number);

/// The contents of an int64 constant, or nothing.
std::optional<std::vector<std::int64_t>> integer_constant(const Graph& graph, ValueId id);

/// Node::outputs[0], of nodes known to have it.
inline ValueId output_of(const Node& node) { return node.outputs[0]; }

inline bool is_float32(const Graph& graph, ValueId id) {
  return id != ValueId::kNone && graph.value(id).type.dtype == DType::kFloat32;
}

/// A node of one output, which someone asked for, with nothing fused to it yet.
bool is_plain(const Node& node);

/// A plain node that gives its first input's elements in the same order under another shape.
bool is_view(const Node& node);

}  // namespace saccade
