#include <algorithm>

#include "ops/layers/window.hpp"
#include "passes/core/match.hpp"
#include "passes/core/steps.hpp"

// ConvTranspose whose windows do not overlap (the kernel is as long as the stride) to a 1x1 Conv, which computes all
// taps of a pixel as channels, and DepthToSpace, which moves them to their places.
namespace saccade {
namespace {

constexpr std::size_t kHeight = 1;  // of Window's axes
constexpr std::size_t kWidth = 2;

/// The stride; 0: the windows overlap, have gaps or are cropped.
std::int64_t block_of(const Window& w) {
  const std::int64_t block = w.stride[kHeight];
  if (w.rank != 2 || block < 2) return 0;
  for (const std::size_t axis : {kHeight, kWidth})
    if (w.stride[axis] != block || w.kernel[axis] != block || w.dilation[axis] != 1 || w.pad_begin[axis] != 0 ||
        w.out[axis] != w.in[axis] * block)
      return 0;
  return block;
}

/// Weights (in, out, y, x) as those of a Conv whose channel (y * block + x) * out + o is tap (y, x) of channel o.
Tensor taps_as_channels(const Tensor& weights, std::int64_t block) {
  const std::int64_t in = weights.shape()[0];
  const std::int64_t out = weights.shape()[1];
  const std::int64_t taps = block * block;
  Tensor result(DType::kFloat32, Shape{taps * out, in, 1, 1});
  const auto from = weights.data<float>();
  const auto to = result.data<float>();
  for (std::int64_t i = 0; i < in; ++i)
    for (std::int64_t o = 0; o < out; ++o)
      for (std::int64_t tap = 0; tap < taps; ++tap)
        to[static_cast<std::size_t>((tap * out + o) * in + i)] =
            from[static_cast<std::size_t>((i * out + o) * taps + tap)];
  return result;
}

Tensor repeated(const Tensor& bias, std::int64_t times) {
  const std::int64_t channels = bias.elements();
  Tensor result(DType::kFloat32, Shape{times * channels});
  for (std::int64_t i = 0; i < times; ++i)
    std::ranges::copy(bias.data<float>(), &result.data<float>()[static_cast<std::size_t>(i * channels)]);
  return result;
}

}  // namespace

std::optional<Patch> lower_conv_transpose(const PassContext& context, NodeId id) {
  const Graph& graph = context.graph;
  const Node& node = graph.node(id);
  if (!context.target.splits_conv_transpose || !node.is("ConvTranspose") || !is_float32(graph, node.inputs[0]))
    return {};
  if (node.attributes.integer("group", 1) != 1) return {};
  const bool has_bias = node.inputs.size() > 2 && node.inputs[2] != ValueId::kNone;
  const Tensor* weights = graph.constant(node.inputs[1]);
  const Tensor* bias = has_bias ? graph.constant(node.inputs[2]) : nullptr;
  if (weights == nullptr || (has_bias && bias == nullptr)) return {};
  // An operand would have to be rearranged, too.
  if (std::ranges::any_of(node.post_ops, [](const PostOp& post) { return post.operand >= 0; })) return {};
  const std::int64_t block = block_of(slide_transposed(node.attributes, graph.value(node.inputs[0]).type.shape,
                                                       kernel_of(node.attributes, weights->shape())));
  if (block == 0) return {};

  Patch patch(graph, fmt::format("{} to Conv and DepthToSpace", node.name));
  Steps steps(patch, node);
  Node conv{.op = "Conv",
            .inputs = {node.inputs[0], steps.constant("weights", taps_as_channels(*weights, block))},
            .post_ops = node.post_ops};
  if (bias != nullptr) conv.inputs.push_back(steps.constant("bias", repeated(*bias, block * block)));
  Node move{.op = "DepthToSpace", .inputs = {steps.add("taps", std::move(conv))}};
  move.attributes.set("blocksize", block);
  patch.replace(output_of(node), steps.add("pixels", std::move(move)));
  return patch;
}

}  // namespace saccade
