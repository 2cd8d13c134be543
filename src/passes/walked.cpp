#include "passes/walked.hpp"

#include <algorithm>

#include "ops/core/dispatch.hpp"
#include "ops/core/op.hpp"
#include "ops/core/values.hpp"
#include "ops/movement/slice.hpp"
#include "ops/movement/transpose.hpp"
#include "passes/core/match.hpp"
#include "tensor/view.hpp"

namespace saccade {
namespace {

/// The one element of a numeric constant.
std::optional<double> number_of(const Graph& graph, ValueId id) {
  const Tensor* tensor = graph.constant(id);
  if (tensor == nullptr || tensor->elements() != 1 || !is_number(tensor->dtype())) return std::nullopt;
  return real_of(view_of(*tensor));
}

const Shape& known_shape(const Graph& graph, ValueId id) { return graph.value(id).type.shape; }

Origin origin_of_transpose(const Graph& graph, const Node& node) {
  const Shape& from = known_shape(graph, node.inputs[0]);
  const Shape steps = dense_strides(from);
  const Shape order = transpose_order(node.attributes, from.rank());
  Origin origin{.steps = Shape::filled(from.rank(), 0)};
  for (int i = 0; i < from.rank(); ++i) origin.steps[i] = steps[static_cast<int>(order[i])];
  return origin;
}

std::optional<Origin> origin_of_slice(const Graph& graph, const Node& node) {
  const Shape& from = known_shape(graph, node.inputs[0]);
  const auto ranges = slice_ranges(graph, node);
  if (!ranges) return std::nullopt;
  Origin origin{.steps = dense_strides(from)};
  for (int axis = 0; axis < from.rank(); ++axis) {
    const SliceRange& range = (*ranges)[static_cast<std::size_t>(axis)];
    if (range.step < 1) return std::nullopt;
    origin.offset += range.start * origin.steps[axis];
    origin.steps[axis] *= range.step;
  }
  return origin;
}

Origin origin_of_split(const Graph& graph, const Node& node, ValueId output) {
  const Shape& from = known_shape(graph, node.inputs[0]);
  const int axis = InferContext::axis(node.attributes.integer("axis", 0), from.rank());
  Origin origin{.steps = dense_strides(from)};
  for (const ValueId part : node.outputs) {
    if (part == output) break;
    if (part != ValueId::kNone) origin.offset += known_shape(graph, part)[axis] * origin.steps[axis];
  }
  return origin;
}

/// Whether all outputs of a Split before OUTPUT are present, so that its offset is known.
bool has_parts(const Node& node, ValueId output) {
  return std::find(node.outputs.begin(), std::ranges::find(node.outputs, output), ValueId::kNone) ==
         std::ranges::find(node.outputs, output);
}

/// A Gather of one index, with or without a dimension of 1 in the output.
std::optional<Origin> origin_of_gather(const Graph& graph, const Node& node) {
  const Shape& from = known_shape(graph, node.inputs[0]);
  const Tensor* indices = graph.constant(node.inputs[1]);
  if (indices == nullptr || indices->elements() != 1 || indices->shape().rank() > 1) return std::nullopt;
  const int axis = InferContext::axis(node.attributes.integer("axis", 0), from.rank());
  const std::int64_t index = integers_of(view_of(*indices))[0];
  if (index < -from[axis] || index >= from[axis]) return std::nullopt;
  const Shape steps = dense_strides(from);
  Origin origin{.offset = (index < 0 ? index + from[axis] : index) * steps[axis]};
  for (int i = 0; i < from.rank(); ++i)
    if (i != axis || indices->shape().rank() == 1) origin.steps.push_back(i == axis ? 0 : steps[i]);
  return origin;
}

std::optional<Origin> origin_of(const Graph& graph, const Node& node, ValueId output) {
  if (!node.domain.empty() || !node.post_ops.empty()) return std::nullopt;
  if (node.op == "Transpose") return origin_of_transpose(graph, node);
  if (node.op == "Slice") return origin_of_slice(graph, node);
  if (node.op == "Split" && has_parts(node, output)) return origin_of_split(graph, node, output);
  if (node.op == "Gather") return origin_of_gather(graph, node);
  return std::nullopt;
}

/// The scalar that the node multiplies input WHICH (0 or 1, set here) by; nullopt for any other node.
std::optional<double> factor_of(const Graph& graph, const Node& node, std::size_t& which) {
  if (!is_plain(node) || (!node.is("Mul") && !node.is("Div"))) return std::nullopt;
  for (which = 0; which < 2; ++which) {
    const auto number = number_of(graph, node.inputs[1 - which]);
    if (!number || known_shape(graph, node.inputs[which]) != known_shape(graph, output_of(node))) continue;
    if (node.is("Mul")) return number;
    if (which == 0 && *number != 0) return 1 / *number;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Walked> walk_back(const Graph& graph, const Walked& walked) {
  const Node* node = graph.producer(walked.value);
  if (node == nullptr || graph.value(walked.value).layout != Layout::kRowMajor) return std::nullopt;
  Walked source = walked;
  std::size_t which = 0;
  if (is_view(*node)) {
    source.value = node->inputs[0];
  } else if (const auto factor = factor_of(graph, *node, which)) {
    source.value = node->inputs[which];
    source.scale *= *factor;
  } else {
    const auto origin = origin_of(graph, *node, walked.value);
    const auto walk =
        origin ? walk_through(walked.walk, known_shape(graph, walked.value), *origin) : std::optional<Walk>();
    if (!walk) return std::nullopt;
    source.value = node->inputs[0];
    source.walk = *walk;
  }
  const Value& value = graph.value(source.value);
  if (value.layout != Layout::kRowMajor || value.type.dtype != graph.value(walked.value).type.dtype)
    return std::nullopt;
  return source;
}

std::optional<Walked> walk_on(const Graph& graph, const Walked& walked) {
  const NodeId reader = sole_reader(graph, walked.value);
  if (reader == NodeId::kNone) return std::nullopt;
  const Node& node = graph.node(reader);
  if (node.inputs[0] != walked.value || !is_plain(node) || graph.value(output_of(node)).layout != Layout::kRowMajor)
    return std::nullopt;
  Walked placed = walked;
  placed.value = output_of(node);
  if (is_view(node)) return placed;
  if (!node.is("Transpose")) return std::nullopt;
  const Shape& from = known_shape(graph, walked.value);
  const Shape order = transpose_order(node.attributes, from.rank());
  const Shape steps = dense_strides(known_shape(graph, placed.value));
  Origin places{.steps = Shape::filled(from.rank(), 0)};
  for (int i = 0; i < from.rank(); ++i) places.steps[static_cast<int>(order[i])] = steps[i];
  const auto walk = walk_through(walked.walk, from, places);
  if (!walk) return std::nullopt;
  placed.walk = *walk;
  return placed;
}

Shape broadcast_steps(const Shape& shape, int rank) {
  const Shape strides = dense_strides(shape);
  Shape steps = Shape::filled(rank, 0);
  for (int i = 0; i < shape.rank(); ++i)
    if (shape[i] != 1) steps[rank - shape.rank() + i] = strides[i];
  return steps;
}

}  // namespace saccade
