#include "cpu/layout_rules.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "ops/layers/strided_attention.hpp"

namespace saccade::cpu {
namespace {

// All sorted by name.
// operator list: oneDNN's and our kernels of these are fastest where the channels of a pixel are contiguous.
constexpr std::array kBestChannelsLast =
    std::to_array<std::string_view>({"AveragePool", "Conv", "ConvInteger", "ConvTranspose", "GlobalAveragePool",
                                     "GlobalMaxPool", "MaxPool", "QLinearConv"});
// operator list: not layout-agnostic, but their kernels run in either layout.
constexpr std::array kImagesInEither =
    std::to_array<std::string_view>({"DepthToSpace", "GridSample", "GroupNormalization", "InstanceNormalization",
                                     "Resize", "RoiAlign", "SpaceToDepth"});

bool lists(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::binary_search(names, name);
}

/// Reductions of all spatial dimensions with keepdims: N x C x 1 x 1 is the same in either layout.
bool reduces_space(const NodeContext& context) {
  const Tensor* axes = context.constant(1);
  if (!context.node.op.starts_with("Reduce") || axes == nullptr || axes->dtype() != DType::kInt64) return false;
  if (context.node.attributes.integer("keepdims", 1) == 0) return false;
  const int rank = context.input(0).type.shape.rank();
  std::vector<bool> reduced(static_cast<std::size_t>(rank), false);
  for (const std::int64_t axis : axes->data<std::int64_t>())
    reduced[static_cast<std::size_t>(InferContext::axis(axis, rank))] = true;
  for (int i = 0; i < rank; ++i)
    if (reduced[static_cast<std::size_t>(i)] != (i >= 2)) return false;
  return rank >= 3;
}

/// Operators whose kernels write the layout that they read, applied to a constant, which is row-major: for example a
/// constant image sampled at coordinates of the run, or what constant folding would evaluate.
bool keeps_layout_of_constant(const NodeContext& context) {
  // operator list: kernels that write the layout that they read.
  constexpr auto kOps = std::to_array<std::string_view>(
      {"Cast", "DequantizeLinear", "DynamicQuantizeLinear", "GridSample", "GroupNormalization", "InstanceNormalization",
       "LogSoftmax", "QuantizeLinear", "Resize", "RoiAlign", "Softmax"});
  return context.constant(0) != nullptr && lists(kOps, context.node.op);
}

}  // namespace

LayoutRule layout_rule(const NodeContext& context) {
  const Node& node = context.node;
  if (node.is("Preprocess", "saccade")) return LayoutRule::kChannelsLast;
  if (node.is("StridedAttention", "saccade")) return attention_layout_rule(context.graph, node);
  const bool agnostic = traits_of(node).layout_agnostic;
  if (!node.domain.empty()) return agnostic ? LayoutRule::kAny : LayoutRule::kRowMajor;
  if (keeps_layout_of_constant(context)) return LayoutRule::kRowMajor;
  if (lists(kBestChannelsLast, node.op)) return LayoutRule::kChannelsLast;
  return agnostic || lists(kImagesInEither, node.op) || reduces_space(context) ? LayoutRule::kAny
                                                                               : LayoutRule::kRowMajor;
}

}  // namespace saccade::cpu
