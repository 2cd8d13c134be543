#include <algorithm>
#include <map>

#include "ops/core/op.hpp"
#include "passes/core/match.hpp"
#include "tensor/view.hpp"

// Folds a LayerNormalization into all GEMMs with constant weights that read it, if it has no other readers and the
// target has a kernel for both: saccade.NormalizedProduct, which reads the input of the normalisation. Normalised rows
// are then neither rounded nor written to memory.
namespace saccade {
namespace {

class Folding {
 public:
  Folding(const PassContext& context, const Node& norm)
      : context_(context),
        graph_(context.graph),
        norm_(norm),
        patch_(graph_, fmt::format("{} into its readers", norm.name)) {}

  std::optional<Patch> patch() {
    if (!is_foldable_norm()) return {};
    instead_[output_of(norm_)] = norm_.inputs[0];
    if (!fold_readers(output_of(norm_)) || !folds_) return {};
    return std::move(patch_);
  }

 private:
  const Shape& shape_of(ValueId id) const { return graph_.value(id).type.shape; }
  std::int64_t channels() const { return shape_of(norm_.inputs[0]).back(); }

  bool is_foldable_norm() const {
    if (!norm_.is("LayerNormalization") || !is_plain(norm_) || graph_.constant(norm_.inputs[0]) != nullptr)
      return false;
    const Shape& shape = shape_of(norm_.inputs[0]);
    if (shape.rank() < 2 || InferContext::axis(norm_.attributes.integer("axis", -1), shape.rank()) != shape.rank() - 1)
      return false;
    return std::all_of(norm_.inputs.begin() + 1, norm_.inputs.end(),
                       [&](ValueId id) { return id == ValueId::kNone || is_vector(id, shape.back()); });
  }

  bool is_vector(ValueId id, std::int64_t length) const {
    return graph_.constant(id) != nullptr && shape_of(id).rank() >= 1 && shape_of(id).back() == length &&
           shape_of(id).elements() == length;
  }

  /// Folds the normalisation into all readers of VALUE, which contains normalised rows; false if one can't be folded.
  bool fold_readers(ValueId value) {
    if (graph_.is_output(value)) return false;
    return std::ranges::all_of(graph_.users(value), [&](NodeId id) {
      const Node& reader = graph_.node(id);
      if (reader.inputs[0] != value || std::ranges::count(reader.inputs, value) != 1) return false;
      return keeps_rows(reader) ? fold_view(reader) : fold_product(reader);
    });
  }

  /// Whether the output has the same rows in the same order, in the input's memory.
  bool keeps_rows(const Node& node) const {
    if (!is_view(node)) return false;
    const Value& from = graph_.value(node.inputs[0]);
    const Value& to = graph_.value(output_of(node));
    return to.type.shape.rank() >= 1 && to.type.shape.back() == channels() &&
           lies_alike(from.type.shape, from.layout, to.type.shape, to.layout);
  }

  bool fold_view(const Node& view) {
    Node same = view;
    same.inputs[0] = instead_.at(view.inputs[0]);
    instead_[output_of(view)] = patch_.add_node_with_output(std::move(same), {}, graph_.value(output_of(view)).layout);
    return fold_readers(output_of(view));
  }

  bool fold_product(const Node& product) {
    if (!product.is("MatMul") && !product.is("Gemm")) return false;
    if (product.attributes.integer("transA", 0) != 0 || graph_.constant(product.inputs[1]) == nullptr ||
        shape_of(product.inputs[1]).rank() != 2)
      return false;
    if (has_bias(product) && !is_vector(product.inputs[2], shape_of(output_of(product)).back())) return false;
    Node folded = normalized(product);
    folded.inputs[0] = product.inputs[0];
    folded.outputs = product.outputs;
    if (!context_.target.has_kernel(graph_, folded)) return false;
    folded.inputs[0] = instead_.at(product.inputs[0]);
    patch_.replace(output_of(product),
                   patch_.add_node_with_output(std::move(folded), {}, graph_.value(output_of(product)).layout));
    folds_ = true;
    return true;
  }

  static bool has_bias(const Node& product) { return product.inputs.size() > 2 && product.inputs[2] != ValueId::kNone; }

  /// PRODUCT with the normalisation folded in, except for its first input and its output.
  Node normalized(const Node& product) const {
    Node node{.domain = "saccade",
              .op = "NormalizedProduct",
              .name = product.name,
              .inputs = {ValueId::kNone, product.inputs[1], has_bias(product) ? product.inputs[2] : ValueId::kNone,
                         norm_.inputs[1], norm_.inputs.size() > 2 ? norm_.inputs[2] : ValueId::kNone},
              .attributes = product.attributes,
              .post_ops = product.post_ops,
              .stage = product.stage};
    node.attributes.set("epsilon", norm_.attributes.real("epsilon", 1e-5F));
    for (PostOp& post : node.post_ops) {
      if (post.operand < 0) continue;
      node.inputs.push_back(product.inputs[static_cast<std::size_t>(post.operand)]);
      post.operand = static_cast<int>(node.inputs.size()) - 1;
    }
    return node;
  }

  const PassContext& context_;
  const Graph& graph_;
  const Node& norm_;
  Patch patch_;
  std::map<ValueId, ValueId> instead_;  // by normalised value: the same rows before normalisation
  bool folds_ = false;
};

}  // namespace

std::optional<Patch> fold_layer_norm(const PassContext& context) {
  if (!context.target.has_kernel) return {};
  for (NodeId id : context.graph.order())
    if (auto patch = Folding(context, context.graph.node(id)).patch()) return patch;
  return {};
}

}  // namespace saccade
