#include "passes/core/match.hpp"

#include <algorithm>

#include "ops/core/op.hpp"

namespace saccade {
namespace {

template <typename T>
bool all_are(const Tensor& tensor, double number) {
  return std::ranges::all_of(tensor.data<T>(), [&](T element) { return static_cast<double>(element) == number; });
}

}  // namespace

NodeId sole_reader(const Graph& graph, ValueId id) {
  const std::set<NodeId>& readers = graph.users(id);
  if (readers.size() != 1 || graph.is_output(id)) return NodeId::kNone;
  const NodeId reader = *readers.begin();
  return std::ranges::count(graph.node(reader).inputs, id) == 1 ? reader : NodeId::kNone;
}

const Node* producer_for(const Graph& graph, ValueId id, NodeId reader) {
  const Node* producer = graph.producer(id);
  return producer != nullptr && sole_reader(graph, id) == reader ? producer : nullptr;
}

bool may_replace(const Graph& graph, ValueId old, ValueId replacement) {
  if (old == ValueId::kNone || replacement == ValueId::kNone || old == replacement) return false;
  const Value& from = graph.value(old);
  const Value& to = graph.value(replacement);
  if (from.type != to.type || (from.layout != to.layout && !to.constant)) return false;
  return !graph.is_output(old) || (!graph.is_input(replacement) && !graph.is_output(replacement));
}

std::optional<float> scalar_constant(const Graph& graph, ValueId id) {
  const Tensor* tensor = graph.constant(id);
  if (tensor == nullptr || tensor->dtype() != DType::kFloat32 || tensor->elements() != 1) return std::nullopt;
  return tensor->data<float>()[0];
}

bool is_filled_with(const Graph& graph, ValueId id, double number) {
  const Tensor* tensor = graph.constant(id);
  if (tensor == nullptr) return false;
  switch (tensor->dtype()) {
    case DType::kFloat32: return all_are<float>(*tensor, number);
    case DType::kFloat64: return all_are<double>(*tensor, number);
    case DType::kInt32: return all_are<std::int32_t>(*tensor, number);
    case DType::kInt64: return all_are<std::int64_t>(*tensor, number);
    default: return false;
  }
}

std::optional<std::vector<std::int64_t>> integer_constant(const Graph& graph, ValueId id) {
  const Tensor* tensor = graph.constant(id);
  if (tensor == nullptr || tensor->dtype() != DType::kInt64) return std::nullopt;
  const auto values = tensor->data<std::int64_t>();
  return std::vector<std::int64_t>(values.begin(), values.end());
}

bool is_plain(const Node& node) {
  return node.outputs.size() == 1 && node.outputs[0] != ValueId::kNone && node.post_ops.empty();
}

bool is_view(const Node& node) { return traits_of(node).is_view() && is_plain(node); }

}  // namespace saccade
