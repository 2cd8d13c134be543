#pragma once

#include <optional>
#include <vector>

#include "passes/core/match.hpp"

namespace saccade {

/// y = x * scale[c] + shift[c], where c is the index along one dimension of x.
struct ChannelAffine {
  std::vector<double> scale;
  std::vector<double> shift;
};

/// Whether a per-channel affine function can be folded into the node's weights: float32 Conv, ConvTranspose, Gemm, and
/// MatMul with a rank-2 right operand, without post-ops.
bool is_linear(const Graph& graph, const Node& node);

/// The dimension of a linear node's output along which the bias varies.
int channel_axis(const Graph& graph, const Node& linear);

/// The SHAPE[AXIS] values of a float32 constant that, broadcast to SHAPE, varies along AXIS only; else nullopt.
std::optional<std::vector<double>> per_channel(const Graph& graph, ValueId constant, const Shape& shape, int axis);

/// The node as a function of its input I, if it is Add, Sub, Mul or Div with a constant that varies along AXIS only and
/// does not change I's shape.
std::optional<ChannelAffine> as_affine(const Graph& graph, const Node& node, std::size_t i, int axis);

/// Adds a copy of LINEAR with AFFINE, which follows it, folded into weights and bias. Returns its output; nullopt if
/// the weights or the bias are not constant.
std::optional<ValueId> fold_into(Patch& patch, const Graph& graph, const Node& linear, const ChannelAffine& affine);

}  // namespace saccade
