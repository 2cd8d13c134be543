#include <algorithm>
#include <cstring>

#include "passes/channel_affine.hpp"

// The Add of a tensor to the output of Conv, ConvTranspose, Gemm or MatMul becomes a post-op if shapes agree. The Add
// must be the only reader of that output, so that the other tensor does not depend on it. Views between a GEMM and the
// Add are allowed: the other tensor is then reshaped before and the sum after the GEMM.
namespace saccade {
namespace {

/// The bias is input 2 of all of them; operands of post-ops follow it.
constexpr std::size_t kFirstOperand = 3;

bool multiplies_matrices(const Node& node) { return node.is("Gemm") || node.is("MatMul"); }

bool takes_residual(const Node& node) {
  return multiplies_matrices(node) || node.is("Conv") || node.is("ConvTranspose");
}

bool renames(const Graph& graph, const Node& node) {
  return is_view(node) && graph.value(node.inputs[0]).layout == Layout::kRowMajor &&
         graph.value(output_of(node)).layout == Layout::kRowMajor;
}

class ResidualFusion {
 public:
  ResidualFusion(const Graph& graph, NodeId id) : graph_(graph), id_(id), sum_(graph.node(id)) {}

  std::optional<Patch> patch() const {
    for (std::size_t i = 0; i < 2; ++i) {
      const Node* product = product_of(sum_.inputs[i]);
      if (product != nullptr && fits(*product, i)) return fused(*product, sum_.inputs[1 - i]);
    }
    return {};
  }

 private:
  const TensorType& type_of(ValueId id) const { return graph_.value(id).type; }

  /// The GEMM or convolution that computes an operand of the Add, possibly through views, for it alone; null: none.
  const Node* product_of(ValueId operand) const {
    const Node* producer = producer_for(graph_, operand, id_);
    if (producer == nullptr || producer->outputs.size() != 1) return nullptr;
    if (takes_residual(*producer)) return producer;
    if (!renames(graph_, *producer) || graph_.value(output_of(sum_)).layout != Layout::kRowMajor) return nullptr;
    const Node* before = producer_for(graph_, producer->inputs[0], graph_.value(operand).producer);
    return before != nullptr && multiplies_matrices(*before) && before->outputs.size() == 1 ? before : nullptr;
  }

  bool fits(const Node& product, std::size_t i) const {
    const TensorType& result = type_of(output_of(sum_));
    if (product.post_ops.size() + 1 + sum_.post_ops.size() > kMaxPostOps) return false;
    if (type_of(sum_.inputs[i]) != result || type_of(sum_.inputs[1 - i]) != result) return false;
    // Constants are row-major; a residual must have the layout of the output.
    return multiplies_matrices(product) || graph_.constant(sum_.inputs[1 - i]) == nullptr;
  }

  Patch fused(const Node& product, ValueId other) const {
    Patch patch(graph_, fmt::format("{} into {}", sum_.name, product.name));
    const Shape& shape = type_of(output_of(product)).shape;
    const Layout layout = graph_.value(output_of(sum_)).layout;
    const auto operand = [&](ValueId id) {
      const Tensor* constant = graph_.constant(id);
      if (constant == nullptr || constant->shape() == shape) return as(patch, id, type_of(id).shape, shape);
      return patch.add_constant(graph_.value(id).name, renamed(*constant, shape));
    };
    const ValueId made = patch.add_node_with_output(with_sum(product, operand(other), operand), {}, layout);
    patch.replace(output_of(sum_), as(patch, made, shape, type_of(output_of(sum_)).shape));
    return patch;
  }

  /// PRODUCT with the residual as a post-op, then the post-ops of the Add.
  template <typename Operand>
  Node with_sum(const Node& product, ValueId other, const Operand& operand_of) const {
    Node fused = product;
    if (fused.inputs.size() < kFirstOperand) fused.inputs.resize(kFirstOperand, ValueId::kNone);
    fused.post_ops.push_back({.op = "Add", .operand = static_cast<int>(fused.inputs.size())});
    fused.inputs.push_back(other);
    for (PostOp post : sum_.post_ops) {
      if (post.operand >= 0) {
        const ValueId operand = operand_of(sum_.inputs[static_cast<std::size_t>(post.operand)]);
        post.operand = static_cast<int>(fused.inputs.size());
        fused.inputs.push_back(operand);
      }
      fused.post_ops.push_back(std::move(post));
    }
    return fused;
  }

  static Tensor renamed(const Tensor& constant, const Shape& shape) {
    Tensor result(constant.dtype(), shape);
    std::memcpy(result.raw(), constant.raw(), constant.bytes());
    return result;
  }

  /// Value ID, of shape FROM, reshaped to TO.
  ValueId as(Patch& patch, ValueId id, const Shape& from, const Shape& to) const {
    if (from == to) return id;
    Tensor target(DType::kInt64, {to.rank()});
    std::ranges::copy(to, target.data<std::int64_t>().begin());
    Node reshape{.op = "Reshape", .name = sum_.name, .stage = sum_.stage};
    reshape.inputs = {id, patch.add_constant(sum_.name + ".shape", std::move(target))};
    // With allowzero, a 0 in the target is an empty dimension.
    reshape.attributes.set("allowzero", std::int64_t{1});
    return patch.add_node_with_output(std::move(reshape));
  }

  const Graph& graph_;
  NodeId id_;
  const Node& sum_;
};

}  // namespace

std::optional<Patch> fuse_residual(const PassContext& context, NodeId id) {
  const Graph& graph = context.graph;
  const Node& sum = graph.node(id);
  if (!sum.is("Add") || sum.inputs.size() < 2 || sum.outputs.size() != 1 || !is_float32(graph, output_of(sum)))
    return {};
  return ResidualFusion(graph, id).patch();
}

}  // namespace saccade
