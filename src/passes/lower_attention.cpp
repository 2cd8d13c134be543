#include <algorithm>
#include <cmath>
#include <limits>

#include "passes/core/match.hpp"
#include "passes/core/steps.hpp"

// Lowers Attention without a KV cache to GEMM, Softmax, GEMM, for which backends have fast kernels. Query heads that
// share a key head (GQA) become rows of one matrix. A fully masked query must return zeros, where Softmax alone returns
// NaN or a mean: masks add the lowest finite number, and the output of a query that may be fully masked is multiplied
// by 0.
namespace saccade {
namespace {

constexpr float kHidden = std::numeric_limits<float>::lowest();

enum Input : std::size_t { kQuery, kKey, kValue, kMask, kInputs };

/// (batch, heads, length, size) of an input in that form or as (batch, length, heads * size).
Shape heads_of(const Shape& shape, std::int64_t heads) {
  return shape.rank() == 4 ? shape : Shape{shape[0], heads, shape[1], shape[2] / heads};
}

/// The dimensions of an Attention.
struct Extents {
  Shape q;
  Shape k;
  Shape v;

  std::int64_t queries() const { return q[2]; }
  std::int64_t keys() const { return k[2]; }
  Shape scores() const { return {q[0], q[1], q[2], k[2]}; }
};

Extents extents_of(const Graph& graph, const Node& node) {
  const auto shape = [&](std::size_t i, std::string_view heads) {
    return heads_of(graph.value(node.inputs[i]).type.shape, node.attributes.integer(heads, 1));
  };
  return {shape(kQuery, "q_num_heads"), shape(kKey, "kv_num_heads"), shape(kValue, "kv_num_heads")};
}

bool has_input(const Node& node, std::size_t i) { return i < node.inputs.size() && node.inputs[i] != ValueId::kNone; }

/// The mask of causality and window; empty if they mask nothing.
std::vector<bool> window_of(const Attributes& attributes, const Extents& extents) {
  const std::int64_t left = attributes.integer("left_window_size", -1);
  std::int64_t right = attributes.integer("right_window_size", -1);
  if (attributes.integer("is_causal", 0) != 0) right = 0;
  if (left < 0 && right < 0) return {};
  std::vector<bool> window;
  for (std::int64_t query = 0; query < extents.queries(); ++query)
    for (std::int64_t key = 0; key < extents.keys(); ++key)
      window.push_back((left < 0 || query - key <= left) && (right < 0 || key - query <= right));
  return window;
}

class AttentionSteps {
 public:
  AttentionSteps(const Graph& graph, const Node& node, Patch& patch)
      : graph_(graph), node_(node), steps_(patch, node), extents_(extents_of(graph, node)) {}

  ValueId output() {
    add_bias();
    const auto& [q, k, v] = extents_;
    const std::int64_t rows = q[1] / k[1] * q[2];
    const ValueId queries =
        steps_.reshape("rows", scaled(heads("query", kQuery, {0, 1, 2, 3})), {q[0], k[1], rows, q[3]});
    ValueId scores = multiply("scores", queries, heads("key", kKey, {0, 1, 3, 2}));
    scores = capped(steps_.reshape("scores_of_heads", scores, extents_.scores()));
    if (bias_ != ValueId::kNone) scores = binary("biased", "Add", scores, bias_);
    Node softmax{.op = "Softmax", .inputs = {scores}};
    softmax.attributes.set("axis", std::int64_t{3});
    const ValueId weights = steps_.reshape("weights_of_keys", steps_.add("weights", std::move(softmax)),
                                           {q[0], k[1], rows, extents_.keys()});
    ValueId products = multiply("products", weights, heads("value", kValue, {0, 1, 2, 3}));
    products = steps_.reshape("products_of_heads", products, {q[0], q[1], q[2], v[3]});
    if (seen_ != ValueId::kNone) products = binary("seen_products", "Mul", products, seen_);
    if (graph_.value(node_.inputs[kQuery]).type.shape.rank() == 4) return products;
    return steps_.reshape("output", steps_.transpose("output.order", products, {0, 2, 1, 3}),
                          graph_.value(output_of(node_)).type.shape);
  }

 private:
  ValueId binary(std::string_view name, std::string op, ValueId a, ValueId b) {
    return steps_.add(name, {.op = std::move(op), .inputs = {a, b}});
  }
  ValueId multiply(std::string_view name, ValueId a, ValueId b) { return binary(name, "MatMul", a, b); }
  ValueId scalar(std::string_view name, float value) { return steps_.constant(name, Tensor::scalar(value)); }

  /// Input I as (batch, heads, length, size), transposed by ORDER.
  ValueId heads(const std::string& name, std::size_t i, std::vector<std::int64_t> order) {
    const ValueId given = node_.inputs[i];
    const bool in_order = std::ranges::is_sorted(order);
    if (graph_.value(given).type.shape.rank() == 4) return in_order ? given : steps_.transpose(name, given, order);
    const Shape& shape = i == kQuery ? extents_.q : i == kKey ? extents_.k : extents_.v;
    const ValueId apart = steps_.reshape(name + ".heads", given, {shape[0], shape[2], shape[1], shape[3]});
    for (std::int64_t& axis : order) axis = axis == 1 ? 2 : axis == 2 ? 1 : axis;
    return steps_.transpose(name, apart, std::move(order));
  }

  ValueId scaled(ValueId queries) {
    const float given = node_.attributes.real("scale", 0);
    const float scale = node_.attributes.has("scale") ? given : 1 / std::sqrt(static_cast<float>(extents_.q[3]));
    return binary("scaled", "Mul", queries, scalar("scale", scale));
  }

  ValueId capped(ValueId scores) {
    const float cap = node_.attributes.real("softcap", 0);
    if (!(cap > 0)) return scores;
    const ValueId whole = scalar("softcap", cap);
    const ValueId bent = steps_.add("bent", {.op = "Tanh", .inputs = {binary("over_cap", "Div", scores, whole)}});
    return binary("capped", "Mul", bent, whole);
  }

  ValueId where(std::string_view name, ValueId condition, ValueId yes, ValueId no) {
    return steps_.add(name, {.op = "Where", .inputs = {condition, yes, no}});
  }

  /// The mask to be added to the scores, and a factor per query, 0 if it is fully masked; unset if none can be.
  void add_bias() {
    const std::vector<bool> window = window_of(node_.attributes, extents_);
    const bool masked = has_input(node_, kMask);
    ValueId allowed = ValueId::kNone;
    if (!window.empty()) {
      Tensor tensor(DType::kBool, {extents_.queries(), extents_.keys()});
      std::ranges::copy(window, tensor.data<bool>().begin());
      allowed = steps_.constant("window", std::move(tensor));
    }
    if (!masked && window.empty()) return;
    const ValueId mask = masked ? node_.inputs[kMask] : ValueId::kNone;
    if (!masked || graph_.value(mask).type.dtype == DType::kBool) {
      if (masked) allowed = allowed == ValueId::kNone ? mask : binary("allowed", "And", mask, allowed);
      bias_ = where("bias", allowed, scalar("seen", 0), scalar("hidden", kHidden));
      seen_ = some(allowed);
    } else {
      const float lost = -std::numeric_limits<float>::infinity();
      const ValueId open = allowed == ValueId::kNone ? mask : where("open", allowed, mask, scalar("closed", lost));
      bias_ = binary("bias", "Max", open, scalar("hidden", kHidden));
      seen_ = some(binary("is_open", "Greater", open, scalar("lost", lost)));
    }
  }

  /// Per query, 1 if ALLOWED has any key for it, else 0.
  ValueId some(ValueId allowed) {
    Node numbers{.op = "Cast", .inputs = {allowed}};
    numbers.attributes.set("to", std::int64_t{1});  // float32
    const ValueId last = steps_.constant("last_axis", Tensor::of<std::int64_t>({1}, {-1}));
    return binary("sees", "ReduceMax", steps_.add("allowed_numbers", std::move(numbers)), last);
  }

  const Graph& graph_;
  const Node& node_;
  Steps steps_;
  Extents extents_;
  ValueId bias_ = ValueId::kNone;
  ValueId seen_ = ValueId::kNone;
};

/// Whether the mask, if there is one, covers every key.
bool has_whole_mask(const Graph& graph, const Node& node) {
  if (!has_input(node, kMask)) return true;
  const TensorType& mask = graph.value(node.inputs[kMask]).type;
  return mask.shape.back() == extents_of(graph, node).keys() &&
         (mask.dtype == DType::kBool || mask.dtype == DType::kFloat32);
}

/// Whether there are scores and they fit into memory.
bool has_small_scores(const Extents& extents) {
  constexpr std::int64_t kMost = std::int64_t{1} << 28;
  std::int64_t count = 1;
  for (const std::int64_t dim : extents.scores()) {
    if (dim < 1 || dim > kMost / count) return false;
    count *= dim;
  }
  return true;
}

}  // namespace

std::optional<Patch> lower_attention(const PassContext& context, NodeId id) {
  const Graph& graph = context.graph;
  const Node& node = graph.node(id);
  if (!node.is("Attention") || !is_plain(node) || !is_float32(graph, node.inputs[kQuery])) return {};
  for (std::size_t i = kInputs; i < node.inputs.size(); ++i)
    if (has_input(node, i)) return {};
  if (!is_float32(graph, node.inputs[kValue]) || node.attributes.integer("softmax_precision", 1) != 1) return {};
  if (!has_whole_mask(graph, node) || !has_small_scores(extents_of(graph, node))) return {};
  Patch patch(graph, fmt::format("{} to MatMul, Softmax, MatMul", node.name));
  const ValueId output = AttentionSteps(graph, node, patch).output();
  patch.replace(output_of(node), output);
  return patch;
}

}  // namespace saccade
