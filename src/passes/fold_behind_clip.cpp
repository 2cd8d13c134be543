#include <algorithm>
#include <cmath>
#include <limits>

#include "passes/channel_affine.hpp"

// A scalar that is multiplied with, or added to, the output of a linear node with Relu or Clip is folded into the
// weights, the bias and the bounds: a * Relu(x) + b is a * x + b, clipped at b. HGNetV2 and PP-LCNetV3 have a pair of
// them behind every convolution ("learnable affine block").
namespace saccade {
namespace {

constexpr float kHighest = std::numeric_limits<float>::max();

struct Bounds {
  float low = 0;
  float high = kHighest;
};

std::optional<Bounds> bounds_of(const Node& linear) {
  if (linear.post_ops.size() != 1) return {};
  const PostOp& post = linear.post_ops.front();
  if (post.op == "Relu") return Bounds{};
  if (post.op == "Clip") return Bounds{post.alpha, post.beta};
  return {};
}

/// One that does not bound stays so.
float moved(float bound, double scale, double shift) {
  if (std::abs(bound) < kHighest) return static_cast<float>(bound * scale + shift);
  return (bound > 0) == (scale > 0) ? kHighest : -kHighest;
}

PostOp clip_between(const Bounds& bounds) {
  if (bounds.low == 0 && bounds.high == kHighest) return {.op = "Relu"};
  return {.op = "Clip", .alpha = bounds.low, .beta = bounds.high};
}

bool is_uniform(const std::vector<double>& values) {
  return std::ranges::all_of(values, [&](double value) { return value == values.front(); });
}

}  // namespace

std::optional<Patch> fold_behind_clip(const PassContext& context, NodeId id) {
  const Graph& graph = context.graph;
  const Node& node = graph.node(id);
  if (node.inputs.size() != 2) return {};
  for (std::size_t i = 0; i < 2; ++i) {
    const Node* clipped = producer_for(graph, node.inputs[i], id);
    if (clipped == nullptr) continue;
    const auto bounds = bounds_of(*clipped);
    Node linear = *clipped;
    linear.post_ops.clear();
    if (!bounds || !is_linear(graph, linear)) continue;
    const auto affine = as_affine(graph, node, i, channel_axis(graph, linear));
    if (!affine || affine->scale.empty() || !is_uniform(affine->scale) || !is_uniform(affine->shift)) continue;
    const double scale = affine->scale.front();
    const double shift = affine->shift.front();
    if (scale == 0 || !std::isfinite(scale) || !std::isfinite(shift)) continue;
    const auto [low, high] = std::minmax({moved(bounds->low, scale, shift), moved(bounds->high, scale, shift)});
    linear.post_ops = {clip_between({low, high})};
    Patch patch(graph, fmt::format("{} into {}", node.name, clipped->name));
    const auto folded = fold_into(patch, graph, linear, *affine);
    if (!folded) continue;
    patch.replace(output_of(node), *folded);
    return patch;
  }
  return {};
}

}  // namespace saccade
