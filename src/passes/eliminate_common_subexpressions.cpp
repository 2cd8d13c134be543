#include <algorithm>
#include <cstring>

#include "passes/core/match.hpp"

// Merges identical nodes with the same inputs. Only readers of a common input are compared, so that the pass is local.
// Equal chains merge from their start, because nodes are visited in order.
namespace saccade {
namespace {

bool same_tensor(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  if (a.dtype() == DType::kString) return std::ranges::equal(a.strings(), b.strings());
  return a.raw() == b.raw() || std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

bool same_input(const Graph& graph, ValueId a, ValueId b) {
  if (a == b) return true;
  const Tensor* left = graph.constant(a);
  const Tensor* right = graph.constant(b);
  return left != nullptr && right != nullptr && same_tensor(*left, *right);
}

bool same_attribute(const Attribute& a, const Attribute& b) {
  if (a.index() != b.index()) return false;
  return std::visit(
      [&](const auto& left) {
        using T = std::decay_t<decltype(left)>;
        if constexpr (std::is_same_v<T, Tensor>)
          return same_tensor(left, std::get<T>(b));
        else
          return left == std::get<T>(b);
      },
      a);
}

bool same_attributes(const Attributes& a, const Attributes& b) {
  return std::ranges::equal(a, b, [](const auto& left, const auto& right) {
    return left.first == right.first && same_attribute(left.second, right.second);
  });
}

bool same_post_op(const PostOp& a, const PostOp& b) {
  return a.op == b.op && a.alpha == b.alpha && a.beta == b.beta && a.operand == b.operand;
}

bool same_node(const Graph& graph, const Node& a, const Node& b) {
  const auto both_used = [](ValueId left, ValueId right) {
    return (left == ValueId::kNone) == (right == ValueId::kNone);
  };
  return a.op == b.op && a.domain == b.domain && a.stage == b.stage &&
         std::ranges::equal(a.outputs, b.outputs, both_used) &&
         std::ranges::equal(a.post_ops, b.post_ops, same_post_op) && same_attributes(a.attributes, b.attributes) &&
         std::ranges::equal(a.inputs, b.inputs, [&](ValueId x, ValueId y) { return same_input(graph, x, y); });
}

// Far beyond real graphs; all readers of a value are compared with each other.
constexpr std::size_t kMaxReaders = 1000;

/// The readers of the input that has the fewest; an equal node is among them. Empty if there are too many.
const std::set<NodeId>& candidates(const Graph& graph, const Node& node) {
  static const std::set<NodeId> kNobody;
  const std::set<NodeId>* fewest = nullptr;
  for (ValueId input : node.inputs) {
    if (input == ValueId::kNone || graph.constant(input) != nullptr) continue;
    const std::set<NodeId>& readers = graph.users(input);
    if (fewest == nullptr || readers.size() < fewest->size()) fewest = &readers;
  }
  return fewest == nullptr || fewest->size() > kMaxReaders ? kNobody : *fewest;
}

}  // namespace

std::optional<Patch> eliminate_common_subexpressions(const PassContext& context, NodeId id) {
  const Graph& graph = context.graph;
  const Node& node = graph.node(id);
  if (traits_of(node).random) return {};
  for (NodeId candidate : candidates(graph, node)) {
    if (candidate >= id) continue;
    const Node& earlier = graph.node(candidate);
    if (!same_node(graph, earlier, node)) continue;
    Patch patch(graph, fmt::format("{} ({}) is {}", node.name, node.op, earlier.name));
    bool possible = true;
    for (std::size_t i = 0; i < node.outputs.size() && possible; ++i) {
      if (node.outputs[i] == ValueId::kNone) continue;
      possible = may_replace(graph, node.outputs[i], earlier.outputs[i]);
      patch.replace(node.outputs[i], earlier.outputs[i]);
    }
    if (possible) return patch;
  }
  return {};
}

}  // namespace saccade
