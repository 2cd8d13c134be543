#include <algorithm>
#include <limits>

#include "ops/core/op.hpp"
#include "passes/core/match.hpp"

// An activation becomes a post-op of the node before it, if it is the only reader of that node's output.
namespace saccade {
namespace {

// operator list: activations with an epilogue.
constexpr std::string_view kActivations[] = {"Relu",    "LeakyRelu", "Elu",  "HardSigmoid", "HardSwish",
                                             "Sigmoid", "Tanh",      "Gelu", "Exp"};

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
  if (std::ranges::find(kActivations, node.op) == std::end(kActivations)) return {};
  const Expression& function = find_op(node.domain, node.op)->expression;
  return PostOp{.op = node.op, .alpha = function.a.value(node.attributes), .beta = function.b.value(node.attributes)};
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
