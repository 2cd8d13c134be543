#include <algorithm>
#include <map>

#include "ops/movement/transpose.hpp"
#include "passes/core/match.hpp"

// Merges two consecutive Transposes into one or none. A Transpose after element-wise operators moves before them if it
// cancels all Transposes there.
namespace saccade {
namespace {

using Permutation = std::vector<std::int64_t>;

/// Longer chains of element-wise operators are not searched.
constexpr int kMaxDepth = 8;

Permutation permutation_of(const Graph& graph, const Node& transpose) {
  const Shape order = transpose_order(transpose.attributes, graph.value(transpose.inputs[0]).type.shape.rank());
  return {order.begin(), order.end()};
}

/// The composition of FIRST, then SECOND.
Permutation compose(const Permutation& first, const Permutation& second) {
  Permutation both;
  for (std::int64_t axis : second) both.push_back(first[static_cast<std::size_t>(axis)]);
  return both;
}

bool is_identity(const Permutation& perm) { return std::ranges::is_sorted(perm); }

bool is_transpose(const Node* node) { return node != nullptr && node->is("Transpose") && is_plain(*node); }

/// Computes a value transposed by PERM without a Transpose, where possible.
class Puller {
 public:
  Puller(const PassContext& context, Permutation perm) : context_(context), perm_(std::move(perm)) {}

  /// Whether pull() succeeds for VALUE; checked before a patch is started.
  bool can_pull(ValueId id, NodeId reader, int depth) {
    if (id == ValueId::kNone || depth == kMaxDepth) return false;
    const Graph& graph = context_.graph;
    if (const Tensor* constant = graph.constant(id)) return can_pull(*constant);
    if (graph.value(id).type.shape.rank() != rank()) return false;
    const Node* producer = graph.producer(id);
    if (is_transpose(producer) && is_identity(compose(permutation_of(graph, *producer), perm_))) {
      found_transpose_ = true;
      return true;
    }
    if (producer == nullptr || !passes_through(*producer)) return false;
    // Another reader of the untransposed value would require computing it twice.
    for (NodeId user : graph.users(id))
      if (user != reader) return false;
    if (graph.is_output(id)) return false;
    const NodeId maker = graph.value(id).producer;
    return std::ranges::all_of(producer->inputs, [&](ValueId input) { return can_pull(input, maker, depth + 1); });
  }

  /// VALUE transposed by PERM, after can_pull() returned true.
  ValueId pull(Patch& patch, ValueId id) {
    const Graph& graph = context_.graph;
    if (const Tensor* constant = graph.constant(id)) return pull_constant(patch, id, *constant);
    const Node* producer = graph.producer(id);
    if (is_transpose(producer)) return producer->inputs[0];
    // A node may read one value twice.
    if (const auto found = pulled_.find(id); found != pulled_.end()) return found->second;
    Node node = *producer;
    for (ValueId& input : node.inputs) input = pull(patch, input);
    return pulled_[id] = patch.add_node_with_output(std::move(node));
  }

  bool found_transpose() const { return found_transpose_; }

 private:
  int rank() const { return static_cast<int>(perm_.size()); }

  /// A scalar is unchanged; a float32 constant is transposed at build time.
  bool can_pull(const Tensor& constant) const {
    return constant.elements() == 1 || (constant.dtype() == DType::kFloat32 && constant.shape().rank() <= rank());
  }

  bool passes_through(const Node& node) const { return is_plain(node) && traits_of(node).is_elementwise(); }

  ValueId pull_constant(Patch& patch, ValueId id, const Tensor& constant) const {
    if (constant.elements() == 1) return id;
    // Broadcasting aligns the last dimensions; missing ones are 1.
    Shape from = Shape::filled(rank(), 1);
    const int offset = rank() - constant.shape().rank();
    for (int i = 0; i < constant.shape().rank(); ++i) from[i + offset] = constant.shape()[i];
    const Shape strides = dense_strides(from);
    Shape to = from;
    for (int i = 0; i < rank(); ++i) to[i] = from[static_cast<int>(perm_[static_cast<std::size_t>(i)])];
    Tensor moved(DType::kFloat32, to);
    const auto source = constant.data<float>();
    std::int64_t place = 0;
    for (float& element : moved.data<float>()) {
      std::int64_t rest = place++;
      std::int64_t offset_in_source = 0;
      for (int i = rank() - 1; i >= 0; --i) {
        offset_in_source += rest % to[i] * strides[static_cast<int>(perm_[static_cast<std::size_t>(i)])];
        rest /= to[i];
      }
      element = source[static_cast<std::size_t>(offset_in_source)];
    }
    return patch.add_constant(context_.graph.value(id).name, std::move(moved));
  }

  const PassContext& context_;
  Permutation perm_;
  bool found_transpose_ = false;
  std::map<ValueId, ValueId> pulled_;
};

std::optional<Patch> compose_with_producer(const Graph& graph, const Node& node, const Node& first) {
  const Permutation perm = compose(permutation_of(graph, first), permutation_of(graph, node));
  Patch patch(graph, fmt::format("{} and {}", first.name, node.name));
  if (is_identity(perm)) {
    if (!may_replace(graph, output_of(node), first.inputs[0])) return {};
    patch.replace(output_of(node), first.inputs[0]);
    return patch;
  }
  Node both = node;
  both.inputs[0] = first.inputs[0];
  both.attributes.set("perm", perm);
  patch.replace(output_of(node), patch.add_node_with_output(std::move(both)));
  return patch;
}

}  // namespace

std::optional<Patch> cancel_transposes(const PassContext& context, NodeId id) {
  const Graph& graph = context.graph;
  const Node& node = graph.node(id);
  if (!is_transpose(&node) || graph.value(output_of(node)).layout != Layout::kRowMajor) return {};
  const Node* producer = graph.producer(node.inputs[0]);
  if (producer == nullptr || graph.value(node.inputs[0]).layout != Layout::kRowMajor) return {};
  if (is_transpose(producer)) return compose_with_producer(graph, node, *producer);
  Puller puller(context, permutation_of(graph, node));
  if (!puller.can_pull(node.inputs[0], id, 0) || !puller.found_transpose()) return {};
  Patch patch(graph, fmt::format("{} through {}", node.name, producer->name));
  const ValueId pulled = puller.pull(patch, node.inputs[0]);
  patch.replace(output_of(node), pulled);
  return patch;
}

}  // namespace saccade
