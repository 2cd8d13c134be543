#include "passes/channel_affine.hpp"

// Conv, ConvTranspose, Gemm or MatMul followed by an Add of another tensor of its output's shape: the Add becomes a
// post-op. Nothing but the Add may read the product, so the other tensor can't depend on it.
namespace saccade {
namespace {

/// The bias is input 2 of all of them: operands of post-ops come behind it.
constexpr std::size_t kFirstOperand = 3;

bool takes_residual(const Node& node) {
  return node.domain.empty() && node.outputs.size() == 1 &&
         (node.op == "Conv" || node.op == "ConvTranspose" || node.op == "Gemm" || node.op == "MatMul");
}

/// PRODUCT with the sum's other operand, then what is fused to the sum already.
Node fuse(const Node& product, const Node& sum, ValueId other) {
  Node fused = product;
  if (fused.inputs.size() < kFirstOperand) fused.inputs.resize(kFirstOperand, ValueId::kNone);
  fused.post_ops.push_back({.op = "Add", .operand = static_cast<int>(fused.inputs.size())});
  fused.inputs.push_back(other);
  for (PostOp post : sum.post_ops) {
    if (post.operand >= 0) {
      const ValueId operand = sum.inputs[static_cast<std::size_t>(post.operand)];
      post.operand = static_cast<int>(fused.inputs.size());
      fused.inputs.push_back(operand);
    }
    fused.post_ops.push_back(std::move(post));
  }
  return fused;
}

}  // namespace

std::optional<Patch> fuse_residual(const PassContext& context, NodeId id) {
  const Graph& graph = context.graph;
  const Node& sum = graph.node(id);
  if (!sum.is("Add") || sum.inputs.size() < 2 || sum.outputs.size() != 1 || !is_float32(graph, output_of(sum)))
    return {};
  const Value& result = graph.value(output_of(sum));
  for (std::size_t i = 0; i < 2; ++i) {
    const ValueId other = sum.inputs[1 - i];
    const Node* product = producer_for(graph, sum.inputs[i], id);
    if (product == nullptr || !takes_residual(*product)) continue;
    if (product->post_ops.size() + 1 + sum.post_ops.size() > kMaxPostOps) continue;
    if (graph.value(sum.inputs[i]).type != result.type || graph.value(other).type != result.type) continue;
    // A constant stays row-major; what a convolution adds in place has to lie as its output does.
    if (product->op.starts_with("Conv") && graph.constant(other) != nullptr) continue;
    Patch patch(graph, fmt::format("{} into {}", sum.name, product->name));
    patch.replace(output_of(sum), patch.add_node_with_output(fuse(*product, sum, other), {}, result.layout));
    return patch;
  }
  return {};
}

}  // namespace saccade
