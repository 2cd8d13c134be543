#include "cpu/layout_rules.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace saccade::cpu {
namespace {

// Sorted by name. What stands in neither list runs row-major only.
constexpr std::array kBestChannelsLast =
    std::to_array<std::string_view>({"AveragePool", "Conv", "ConvInteger", "ConvTranspose", "GlobalAveragePool",
                                     "GlobalMaxPool", "MaxPool", "QLinearConv"});
constexpr std::array kInEither = std::to_array<std::string_view>({"Abs",
                                                                  "Add",
                                                                  "Cast",
                                                                  "Ceil",
                                                                  "Celu",
                                                                  "Clip",
                                                                  "Concat",
                                                                  "Cos",
                                                                  "DepthToSpace",
                                                                  "DequantizeLinear",
                                                                  "Div",
                                                                  "DynamicQuantizeLinear",
                                                                  "Elu",
                                                                  "Erf",
                                                                  "Exp",
                                                                  "Expand",
                                                                  "Floor",
                                                                  "Gelu",
                                                                  "GridSample",
                                                                  "GroupNormalization",
                                                                  "HardSigmoid",
                                                                  "HardSwish",
                                                                  "Identity",
                                                                  "InstanceNormalization",
                                                                  "LeakyRelu",
                                                                  "Log",
                                                                  "LogSoftmax",
                                                                  "Max",
                                                                  "Min",
                                                                  "Mish",
                                                                  "Mul",
                                                                  "Neg",
                                                                  "PRelu",
                                                                  "Pad",
                                                                  "Pow",
                                                                  "QuantizeLinear",
                                                                  "Reciprocal",
                                                                  "Relu",
                                                                  "Resize",
                                                                  "RoiAlign",
                                                                  "Round",
                                                                  "Selu",
                                                                  "Sigmoid",
                                                                  "Sign",
                                                                  "Sin",
                                                                  "Slice",
                                                                  "Softmax",
                                                                  "Softplus",
                                                                  "Softsign",
                                                                  "SpaceToDepth",
                                                                  "Split",
                                                                  "Sqrt",
                                                                  "Sub",
                                                                  "Sum",
                                                                  "Swish",
                                                                  "Tanh",
                                                                  "ThresholdedRelu",
                                                                  "Tile"});

constexpr std::array kMicrosoftInEither =
    std::to_array<std::string_view>({"QLinearAdd", "QLinearLeakyRelu", "QLinearMul", "QLinearSigmoid"});

bool lists(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::binary_search(names, name);
}

/// Reductions of all spatial dimensions that keep their places leave N and C, in the order of either layout.
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

/// Operators whose kernels write in the layout that they read. Constants stay row-major, and so does what these make of
/// one: what is sampled of a constant image at places that the run gives, or what would be folded if passes were left
/// to.
bool keeps_layout_of_constant(const NodeContext& context) {
  constexpr auto kOps = std::to_array<std::string_view>(
      {"Cast", "DequantizeLinear", "DynamicQuantizeLinear", "GridSample", "GroupNormalization", "InstanceNormalization",
       "LogSoftmax", "QuantizeLinear", "Resize", "RoiAlign", "Softmax"});
  return context.constant(0) != nullptr && lists(kOps, context.node.op);
}

}  // namespace

LayoutRule layout_rule(const NodeContext& context) {
  const Node& node = context.node;
  if (node.is("Preprocess", "saccade")) return LayoutRule::kChannelsLast;
  if (node.is("Reorder", "saccade") || node.is("Silu", "saccade")) return LayoutRule::kAny;
  if (node.domain == "com.microsoft" && lists(kMicrosoftInEither, node.op)) return LayoutRule::kAny;
  if (!node.domain.empty() || keeps_layout_of_constant(context)) return LayoutRule::kRowMajor;
  if (lists(kBestChannelsLast, node.op)) return LayoutRule::kChannelsLast;
  return lists(kInEither, node.op) || reduces_space(context) ? LayoutRule::kAny : LayoutRule::kRowMajor;
}

}  // namespace saccade::cpu
