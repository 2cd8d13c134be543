#include <algorithm>
#include <limits>

#include "passes/core/match.hpp"

// An activation becomes a post-op of the node before it, if it is the only reader of that node's output.
namespace saccade {
namespace {

/// An activation's parameters in PostOp, with ONNX's defaults.
struct Row {
  std::string_view op;
  float alpha = 0;
  float beta = 0;
};

// operator list: activations with an epilogue, and defaults of their parameters.
constexpr Row kActivations[] = {
    {"Relu"},      {"LeakyRelu", 0.01F}, {"Elu", 1.0F}, {"HardSigmoid", 0.2F, 0.5F},
    {"HardSwish"}, {"Sigmoid"},          {"Tanh"},      {"Gelu"},
    {"Exp"},
};

/// An omitted bound is infinite.
std::optional<float> bound(const Graph& graph, const Node& clip, std::size_t i, float otherwise) {
  if (clip.inputs.size() <= i || clip.inputs[i] == ValueId::kNone) return otherwise;
  return scalar_constant(graph, clip.inputs[i]);
}

std::optional<PostOp> as_post_op(const Graph& graph, const Node& node) {
  if (node.is("Silu", "saccade")) return PostOp{.op = "Silu"};
  if (!node.domain.empty()) return {};
  if (node.op == "Clip") {
    const auto low = bound(graph, node, 1, std::numeric_limits<float>::lowest());
    const auto high = bound(graph, node, 2, std::numeric_limits<float>::max());
    if (!low || !high) return {};
    return PostOp{.op = "Clip", .alpha = *low, .beta = *high};
  }
  if (node.op == "Gelu" && node.attributes.text("approximate", "none") != "none") return {};
  const auto* row = std::ranges::find(kActivations, node.op, &Row::op);
  if (row == std::end(kActivations)) return {};
  return PostOp{.op = node.op,
                .alpha = node.attributes.real("alpha", row->alpha),
                .beta = node.attributes.real("beta", row->beta)};
}

bool takes_post_ops(const Node& node) {
  // operator list: backends have an epilogue for these.
  static constexpr std::string_view kNames[] = {
      "Add", "Conv", "ConvTranspose", "Div", "Gemm", "GroupNormalization", "InstanceNormalization", "MatMul",
      "Mul", "Sub"};
  return node.domain.empty() && node.outputs.size() == 1 && std::ranges::find(kNames, node.op) != std::end(kNames);
}

}  // namespace

std::optional<Patch> fuse_activation(const PassContext& context, NodeId id) {
  const Graph& graph = context.graph;
  const Node& activation = graph.node(id);
  if (activation.inputs.empty() || !is_plain(activation) || !is_float32(graph, output_of(activation))) return {};
  const Node* producer = producer_for(graph, activation.inputs[0], id);
  if (producer == nullptr || !takes_post_ops(*producer) || producer->post_ops.size() == kMaxPostOps) return {};
  const auto post = as_post_op(graph, activation);
  if (!post) return {};
  Patch patch(graph, fmt::format("{} into {}", activation.name, producer->name));
  Node fused = *producer;
  fused.post_ops.push_back(*post);
  patch.replace(output_of(activation),
                patch.add_node_with_output(std::move(fused), {}, graph.value(output_of(activation)).layout));
  return patch;
}

}  // namespace saccade
