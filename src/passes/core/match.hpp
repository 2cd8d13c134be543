#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "passes/core/pass.hpp"

namespace saccade {

/// The only reader of the value, which reads it once; kNone if there are several or none, or if it is a graph output.
/// Required for fusing a node into its reader or producer.
NodeId sole_reader(const Graph& graph, ValueId id);

/// The value's producer if READER is its only reader; else null.
const Node* producer_for(const Graph& graph, ValueId id, NodeId reader);

/// Whether REPLACEMENT may replace OLD: types and layouts agree, and no value becomes graph input and output at once,
/// since each needs its own name.
bool may_replace(const Graph& graph, ValueId old, ValueId replacement);

/// The value of a float32 constant with one element.
std::optional<float> scalar_constant(const Graph& graph, ValueId id);

/// Whether the value is a numeric constant whose elements are all NUMBER.
bool is_filled_with(const Graph& graph, ValueId id, double number);

/// The elements of an int64 constant; else nullopt.
std::optional<std::vector<std::int64_t>> integer_constant(const Graph& graph, ValueId id);

/// Node::outputs[0]; the node must have it.
inline ValueId output_of(const Node& node) { return node.outputs[0]; }

inline bool is_float32(const Graph& graph, ValueId id) {
  return id != ValueId::kNone && graph.value(id).type.dtype == DType::kFloat32;
}

/// Whether the node has one used output and no post-ops.
bool is_plain(const Node& node);

/// Whether the node is plain and reshapes its first input.
bool is_view(const Node& node);

}  // namespace saccade
