#include <cmath>

#include "passes/channel_affine.hpp"

// BatchNormalization with constant statistics is y = x * scale[c] + shift[c]. It is folded into the weights of the
// Conv, ConvTranspose, Gemm or MatMul before it, or becomes Mul and Add.
namespace saccade {
namespace {

std::optional<ChannelAffine> as_affine(const Graph& graph, const Node& norm) {
  const Shape& shape = graph.value(norm.inputs[0]).type.shape;
  if (shape.rank() < 2) return {};
  const Shape channels{shape[1]};
  const auto parameter = [&](std::size_t i) { return per_channel(graph, norm.inputs[i], channels, 0); };
  const auto gamma = parameter(1);
  const auto beta = parameter(2);
  const auto mean = parameter(3);
  const auto variance = parameter(4);
  if (!gamma || !beta || !mean || !variance) return {};
  const auto epsilon = static_cast<double>(norm.attributes.real("epsilon", 1e-5F));
  ChannelAffine affine;
  for (std::size_t c = 0; c < gamma->size(); ++c) {
    affine.scale.push_back((*gamma)[c] / std::sqrt((*variance)[c] + epsilon));
    affine.shift.push_back((*beta)[c] - (*mean)[c] * affine.scale[c]);
  }
  return affine;
}

/// VALUES along dimension 1 of a tensor of RANK dimensions.
Tensor along_channels(const std::vector<double>& values, int rank) {
  Shape shape = Shape::filled(rank, 1);
  shape[1] = static_cast<std::int64_t>(values.size());
  Tensor tensor(DType::kFloat32, shape);
  float* to = tensor.data<float>().data();
  for (double value : values) *to++ = static_cast<float>(value);
  return tensor;
}

ValueId as_mul_and_add(Patch& patch, const Graph& graph, const Node& norm, const ChannelAffine& affine) {
  const Value& x = graph.value(norm.inputs[0]);
  const auto binary = [&](const char* op, ValueId input, const std::string& name, const std::vector<double>& values) {
    const ValueId constant = patch.add_constant(name, along_channels(values, x.type.shape.rank()));
    return patch.add_node_with_output({.op = op, .name = name, .inputs = {input, constant}, .stage = norm.stage}, {},
                                      x.layout);
  };
  const ValueId scaled = binary("Mul", norm.inputs[0], norm.name + ".scale", affine.scale);
  return binary("Add", scaled, norm.name + ".shift", affine.shift);
}

}  // namespace

std::optional<Patch> fold_batch_norm(const PassContext& context, NodeId id) {
  const Graph& graph = context.graph;
  const Node& norm = graph.node(id);
  if (!norm.is("BatchNormalization") || norm.inputs.size() != 5 || !is_plain(norm)) return {};
  if (!is_float32(graph, norm.inputs[0]) || norm.attributes.integer("training_mode", 0) != 0) return {};
  const auto affine = as_affine(graph, norm);
  if (!affine) return {};
  const Node* linear = producer_for(graph, norm.inputs[0], id);
  if (linear != nullptr && is_linear(graph, *linear) && channel_axis(graph, *linear) == 1) {
    Patch patch(graph, fmt::format("{} into {}", norm.name, linear->name));
    if (const auto folded = fold_into(patch, graph, *linear, *affine)) {
      patch.replace(output_of(norm), *folded);
      return patch;
    }
  }
  Patch patch(graph, fmt::format("{} into a Mul and an Add", norm.name));
  patch.replace(output_of(norm), as_mul_and_add(patch, graph, norm, *affine));
  return patch;
}

}  // namespace saccade
