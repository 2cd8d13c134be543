#include "passes/channel_affine.hpp"

#include <algorithm>

namespace saccade {
namespace {

/// Weights as [outer][channels][inner]; outer slices of one group share its channels.
struct WeightsForm {
  std::int64_t outer = 1;
  std::int64_t channels = 1;  ///< of one group
  std::int64_t inner = 1;
  std::int64_t outer_of_group = 1;
};

WeightsForm form_of(const Node& linear, const Shape& weights) {
  if (linear.op == "Conv") return {1, weights[0], weights.elements() / std::max<std::int64_t>(weights[0], 1), 1};
  if (linear.op == "ConvTranspose") {
    const std::int64_t groups = std::max<std::int64_t>(linear.attributes.integer("group", 1), 1);
    const std::int64_t kernel = weights.elements() / std::max<std::int64_t>(weights[0] * weights[1], 1);
    return {weights[0], weights[1], kernel, std::max<std::int64_t>(weights[0] / groups, 1)};
  }
  if (linear.attributes.integer("transB", 0) != 0) return {1, weights[0], weights[1], 1};
  return {weights[0], weights[1], 1, weights[0]};
}

Tensor scaled(const Tensor& weights, const WeightsForm& form, const std::vector<double>& scale) {
  Tensor result(DType::kFloat32, weights.shape());
  const float* from = weights.data<float>().data();
  float* to = result.data<float>().data();
  for (std::int64_t outer = 0; outer < form.outer; ++outer) {
    const double* factors = scale.data() + outer / form.outer_of_group * form.channels;
    for (std::int64_t channel = 0; channel < form.channels; ++channel)
      for (std::int64_t i = 0; i < form.inner; ++i) *to++ = static_cast<float>(*from++ * factors[channel]);
  }
  return result;
}

Tensor vector_of(const std::vector<double>& values) {
  Tensor tensor(DType::kFloat32, {static_cast<std::int64_t>(values.size())});
  std::ranges::transform(values, tensor.data<float>().begin(), [](double v) { return static_cast<float>(v); });
  return tensor;
}

/// The linear node's bias, multiplied by Gemm's beta; zeros if it has none, nullopt if it is not constant.
std::optional<std::vector<double>> bias_of(const Graph& graph, const Node& linear, std::size_t channels) {
  if (linear.inputs.size() < 3 || linear.inputs[2] == ValueId::kNone) return std::vector<double>(channels, 0.0);
  const Shape& shape = graph.value(output_of(linear)).type.shape;
  auto bias = linear.op == "Gemm" ? per_channel(graph, linear.inputs[2], shape, 1)
                                  : per_channel(graph, linear.inputs[2], {static_cast<std::int64_t>(channels)}, 0);
  if (bias && linear.op == "Gemm")
    for (double& value : *bias) value *= static_cast<double>(linear.attributes.real("beta", 1.0F));
  return bias;
}

}  // namespace

bool is_linear(const Graph& graph, const Node& node) {
  if (!node.domain.empty() || !is_plain(node) || node.inputs.size() < 2 || !is_float32(graph, output_of(node)))
    return false;
  if (node.op == "Conv" || node.op == "ConvTranspose" || node.op == "Gemm") return true;
  return node.op == "MatMul" && graph.value(node.inputs[1]).type.shape.rank() == 2 &&
         graph.value(node.inputs[0]).type.shape.rank() >= 2;
}

int channel_axis(const Graph& graph, const Node& linear) {
  return linear.op == "MatMul" ? graph.value(output_of(linear)).type.shape.rank() - 1 : 1;
}

std::optional<std::vector<double>> per_channel(const Graph& graph, ValueId constant, const Shape& shape, int axis) {
  const Tensor* tensor = graph.constant(constant);
  if (tensor == nullptr || tensor->dtype() != DType::kFloat32 || tensor->shape().rank() > shape.rank()) return {};
  // Broadcasting aligns the last dimensions.
  const int offset = shape.rank() - tensor->shape().rank();
  for (int i = 0; i < tensor->shape().rank(); ++i) {
    const std::int64_t dim = tensor->shape()[i];
    if (dim != 1 && (i + offset != axis || dim != shape[axis])) return {};
  }
  const auto values = tensor->data<float>();
  const auto channels = static_cast<std::size_t>(shape[axis]);
  if (values.size() == 1) return std::vector<double>(channels, static_cast<double>(values[0]));
  return std::vector<double>(values.begin(), values.end());
}

std::optional<ChannelAffine> as_affine(const Graph& graph, const Node& node, std::size_t i, int axis) {
  if (!node.domain.empty() || !is_plain(node) || node.inputs.size() != 2) return {};
  const TensorType& type = graph.value(node.inputs[i]).type;
  if (type.dtype != DType::kFloat32 || graph.value(output_of(node)).type != type) return {};
  auto values = per_channel(graph, node.inputs[1 - i], type.shape, axis);
  if (!values) return {};
  const std::size_t channels = values->size();
  if (node.op == "Add") return ChannelAffine{std::vector<double>(channels, 1.0), *std::move(values)};
  if (node.op == "Mul") return ChannelAffine{*std::move(values), std::vector<double>(channels, 0.0)};
  if (node.op == "Sub") {
    // c - x for the second input, x - c for the first.
    if (i == 1) return ChannelAffine{std::vector<double>(channels, -1.0), *std::move(values)};
    for (double& value : *values) value = -value;
    return ChannelAffine{std::vector<double>(channels, 1.0), *std::move(values)};
  }
  if (node.op != "Div" || i != 0 || std::ranges::find(*values, 0.0) != values->end()) return {};
  for (double& value : *values) value = 1 / value;
  return ChannelAffine{*std::move(values), std::vector<double>(channels, 0.0)};
}

std::optional<ValueId> fold_into(Patch& patch, const Graph& graph, const Node& linear, const ChannelAffine& affine) {
  auto bias = bias_of(graph, linear, affine.scale.size());
  if (!bias) return {};
  const bool scales = std::ranges::any_of(affine.scale, [](double factor) { return factor != 1; });
  const Tensor* weights = graph.constant(linear.inputs[1]);
  if (scales && (weights == nullptr || weights->dtype() != DType::kFloat32)) return {};
  Node folded = linear;
  folded.inputs.resize(3, ValueId::kNone);
  if (scales)
    folded.inputs[1] = patch.add_constant(graph.value(linear.inputs[1]).name,
                                          scaled(*weights, form_of(linear, weights->shape()), affine.scale));
  const bool shifts = std::ranges::any_of(affine.shift, [](double offset) { return offset != 0; });
  const bool biased = linear.inputs.size() > 2 && linear.inputs[2] != ValueId::kNone;
  if (shifts || biased) {
    for (std::size_t i = 0; i < bias->size(); ++i) (*bias)[i] = (*bias)[i] * affine.scale[i] + affine.shift[i];
    folded.inputs[2] = patch.add_constant(linear.name + ".bias", vector_of(*bias));
    if (linear.op == "Gemm") folded.attributes.set("beta", 1.0F);
  } else {
    folded.inputs.resize(2);
  }
  return patch.add_node_with_output(std::move(folded), {}, graph.value(output_of(linear)).layout);
}

}  // namespace saccade
