#pragma once

#include <optional>
#include <vector>

#include "passes/core/match.hpp"

namespace saccade {

/// y = x * scale[c] + shift[c], c being the place along one dimension of x.
struct ChannelAffine {
  std::vector<double> scale;
  std::vector<double> shift;
};

/// Whether the node multiplies by weights that a per-channel affine function can be folded into: Conv, ConvTranspose,
/// Gemm and MatMul with a matrix on the right, on float32 and with no post-ops.
bool is_linear(const Graph& graph, const Node& node);

/// The dimension of a linear node's output that its bias runs along.
int channel_axis(const Graph& graph, const Node& linear);

/// A float32 constant that, broadcast to SHAPE, varies along AXIS only: its SHAPE[AXIS] values.
std::optional<std::vector<double>> per_channel(const Graph& graph, ValueId constant, const Shape& shape, int axis);

/// What the node does to its input I, if it is Add, Sub, Mul or Div of I and a constant that varies along AXIS only and
/// does not change I's shape.
std::optional<ChannelAffine> as_affine(const Graph& graph, const Node& node, std::size_t i, int axis);

/// Adds to PATCH a copy of LINEAR with AFFINE behind it folded into weights and bias; returns its output. Nothing where
/// weights or bias would have to be constants and are not.
std::optional<ValueId> fold_into(Patch& patch, const Graph& graph, const Node& linear, const ChannelAffine& affine);

}  // namespace saccade
