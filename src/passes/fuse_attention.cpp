#include <algorithm>

#include "ops/core/dispatch.hpp"
#include "passes/core/match.hpp"
#include "passes/strided_operand.hpp"

// Scaled dot-product attention, softmax(Q K^T) V. Exporters emit GEMM, Softmax and GEMM. They scale queries, keys or
// scores, add masks to the scores, and move heads by Transpose, Slice, Split, Gather and Reshape. All of it becomes one
// saccade.StridedAttention, which reads queries, keys and values where they were computed and writes its output where
// it is read. Each operand is an access pattern (nested loops with strides). That covers batch and heads as one
// dimension or several, transposed keys, and transposed weights as the right operand.
namespace saccade {
namespace {

/// Longer rows exceed the registers of a kernel.
constexpr std::int64_t kMostChannels = 256;

enum Loop : std::size_t { kBatch, kRow, kColumn };

const Shape& shape_of(const Graph& graph, ValueId id) { return graph.value(id).type.shape; }

bool is_product(const Graph& graph, const Node& node) {
  return node.is("MatMul") && is_plain(node) && shape_of(graph, node.inputs[0]).rank() >= 2 &&
         shape_of(graph, node.inputs[1]).rank() >= 2 && shape_of(graph, node.inputs[0]).elements() > 0 &&
         shape_of(graph, node.inputs[1]).elements() > 0;
}

/// The access pattern of operand ID of a batched GEMM with an output of shape OUTPUT: batch, rows, columns; TURNED:
/// batch, columns, rows.
StridedOperand matrices(const Graph& graph, ValueId id, const Shape& output, bool turned) {
  const Shape& shape = shape_of(graph, id);
  const Shape steps = broadcast_steps(shape, output.rank());
  StridedOperand operand{.value = id};
  for (int i = 0; i + 2 < output.rank(); ++i) operand.pattern.loops[kBatch].push_back({output[i], steps[i]});
  const std::int64_t columns = shape.back();
  operand.pattern.loops[turned ? kColumn : kRow] = {{shape[shape.rank() - 2], columns}};
  operand.pattern.loops[turned ? kRow : kColumn] = {{columns, 1}};
  operand.pattern.simplify();
  return operand;
}

/// The producers of the Softmax's input.
struct Scores {
  StridedOperand query;
  StridedOperand key;
  double scale = 1;
  std::optional<StridedOperand> mask;
};

class Matcher {
 public:
  Matcher(const Graph& graph, NodeId id) : graph_(graph), node_(graph.node(id)) {}

  std::optional<Patch> patch() {
    for (const std::size_t weights : {0, 1}) {
      const Shape& shape = shape_of(graph_, output_of(node_));
      const bool turned = weights == 1;
      const auto scores = scores_of(matrices(graph_, node_.inputs[weights], shape, turned));
      if (!scores) continue;
      const StridedOperand value = matrices(graph_, node_.inputs[1 - weights], shape, turned);
      if (fits(scores->query) && fits(value))
        return fused(*scores, source_of(value, false), place_of(matrices(graph_, output_of(node_), shape, turned)));
    }
    return {};
  }

 private:
  static bool fits(const StridedOperand& operand) { return operand.pattern.iterations(kColumn) <= kMostChannels; }

  /// Whether the value has a single reader, so that fusion makes it unused.
  bool is_alone(ValueId id) const { return sole_reader(graph_, id) != NodeId::kNone; }

  /// From the weights, indexed by query and key, back to the operands of the first GEMM.
  std::optional<Scores> scores_of(StridedOperand weights) const {
    while (true) {
      if (!is_alone(weights.value)) return {};
      const Node* producer = graph_.producer(weights.value);
      if (producer != nullptr && producer->is("Softmax") && is_plain(*producer)) break;
      const auto before = trace_back(graph_, weights);
      if (!before || before->scale != 1) return {};
      weights = *before;
    }
    const Node& softmax = *graph_.producer(weights.value);
    if (!runs_along_keys(softmax, weights.pattern)) return {};
    weights.value = softmax.inputs[0];
    return products_of(weights, {});
  }

  /// Whether the innermost loop is the dimension that Softmax normalises.
  bool runs_along_keys(const Node& softmax, const AccessPattern& pattern) const {
    const Shape& shape = shape_of(graph_, output_of(softmax));
    const int axis = InferContext::axis(softmax.attributes.integer("axis", -1), shape.rank());
    Origin along{.steps = Shape::filled(shape.rank(), 0)};
    along.steps[axis] = 1;
    const auto place = compose(pattern, shape, along);
    if (!place || place->offset != 0 || !place->is_constant(kBatch) || !place->is_constant(kRow)) return false;
    return place->iterations(kColumn) == shape[axis] && (shape[axis] == 1 || place->loops[kColumn].back().step == 1);
  }

  std::optional<Scores> products_of(StridedOperand scores, std::optional<StridedOperand> mask) const {
    while (true) {
      if (!is_alone(scores.value)) return {};
      const Node* producer = graph_.producer(scores.value);
      if (producer == nullptr) return {};
      if (is_product(graph_, *producer)) break;
      if (producer->is("Add") && is_plain(*producer)) return masked(scores, *producer, mask);
      const auto before = trace_back(graph_, scores);
      if (!before) return {};
      scores = *before;
    }
    const Node& product = *graph_.producer(scores.value);
    for (const std::size_t queries : {0, 1}) {
      const auto query = operand_of(scores, product, queries, kColumn);
      const auto key = operand_of(scores, product, 1 - queries, kRow);
      if (query && key) return Scores{source_of(*query, true), source_of(*key, true), scores.scale, std::move(mask)};
    }
    return {};
  }

  std::optional<Scores> masked(const StridedOperand& scores, const Node& add,
                               const std::optional<StridedOperand>& mask) const {
    // A scale after the Add would apply to the mask, too.
    if (mask || scores.scale != 1) return {};
    const Shape& shape = shape_of(graph_, scores.value);
    for (const std::size_t i : {0, 1}) {
      const ValueId other = add.inputs[1 - i];
      if (shape_of(graph_, add.inputs[i]) != shape || graph_.value(other).layout != Layout::kRowMajor) continue;
      const auto pattern =
          compose(scores.pattern, shape, {.steps = broadcast_steps(shape_of(graph_, other), shape.rank())});
      if (!pattern) continue;
      if (auto found = products_of({.value = add.inputs[i], .pattern = scores.pattern},
                                   StridedOperand{.value = other, .pattern = *pattern}))
        return found;
    }
    return {};
  }

  /// The access pattern of operand I of the GEMM that computes SCORES: batch, the loop that is not IDLE, and the summed
  /// dimension; nullopt if it depends on the IDLE loop.
  std::optional<StridedOperand> operand_of(const StridedOperand& scores, const Node& product, std::size_t i,
                                           Loop idle) const {
    const Shape& shape = shape_of(graph_, scores.value);
    const Shape& from = shape_of(graph_, product.inputs[i]);
    const int rows = from.rank() - 2;
    Origin origin{.steps = broadcast_steps(from, shape.rank())};
    // The left operand has the rows of the output, the right one its columns.
    origin.steps[shape.rank() - 2] = i == 0 ? from.back() : 0;
    origin.steps[shape.rank() - 1] = i == 0 ? 0 : 1;
    auto pattern = compose(scores.pattern, shape, origin);
    if (!pattern || !pattern->is_constant(idle)) return {};
    if (idle == kRow) pattern->loops[kRow] = pattern->loops[kColumn];
    pattern->loops[kColumn] = {i == 0 ? AffineLoop{from.back(), 1} : AffineLoop{from[rows], from.back()}};
    pattern->simplify();
    return StridedOperand{.value = product.inputs[i], .pattern = std::move(*pattern)};
  }

  static bool is_affine(const StridedOperand& operand) { return operand.pattern.loops[kColumn].size() <= 1; }

  /// The operand at its producer. SCALED: a scale in between may be applied to the scores instead.
  StridedOperand source_of(StridedOperand operand, bool scaled) const {
    StridedOperand source = operand;
    while (auto before = trace_back(graph_, operand)) {
      if (!scaled && before->scale != 1) break;
      operand = std::move(*before);
      if (is_affine(operand)) source = operand;
    }
    return source;
  }

  StridedOperand place_of(StridedOperand output) const {
    StridedOperand place = output;
    while (auto next = trace_forward(graph_, output)) {
      output = std::move(*next);
      if (is_affine(output)) place = output;
    }
    return place;
  }

  std::optional<Patch> fused(const Scores& scores, const StridedOperand& value, const StridedOperand& output) const {
    const DType dtype = graph_.value(output.value).type.dtype;
    for (const ValueId id : {scores.query.value, scores.key.value, value.value})
      if (graph_.value(id).type.dtype != dtype) return {};
    // No kernel computes it in double precision.
    if (!is_float(dtype) || dtype == DType::kFloat64 ||
        (scores.mask && !is_float(graph_.value(scores.mask->value).type.dtype)))
      return {};
    const Shape& shape = shape_of(graph_, output.value);
    Patch patch(graph_, fmt::format("{} with its Softmax and its heads", node_.name));
    Node node{.domain = "saccade",
              .op = "StridedAttention",
              .name = node_.name,
              .inputs = {scores.query.value, scores.key.value, value.value},
              .stage = node_.stage};
    node.attributes.set("query", scores.query.pattern.to_integers());
    node.attributes.set("key", scores.key.pattern.to_integers());
    node.attributes.set("value", value.pattern.to_integers());
    node.attributes.set("output", output.pattern.to_integers());
    node.attributes.set("shape", std::vector<std::int64_t>(shape.begin(), shape.end()));
    node.attributes.set("scale", static_cast<float>(scores.scale * scores.query.scale * scores.key.scale));
    if (scores.mask) {
      node.inputs.push_back(scores.mask->value);
      node.attributes.set("mask", scores.mask->pattern.to_integers());
    }
    patch.replace(output.value, patch.add_node_with_output(std::move(node)));
    return patch;
  }

  const Graph& graph_;
  const Node& node_;
};

}  // namespace

std::optional<Patch> fuse_attention(const PassContext& context, NodeId id) {
  if (!context.target.fuses_attention || !is_product(context.graph, context.graph.node(id))) return {};
  return Matcher(context.graph, id).patch();
}

}  // namespace saccade
