#include <algorithm>

#include "ops/core/dispatch.hpp"
#include "passes/core/match.hpp"
#include "passes/walked.hpp"

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
         shape_of(graph, node.inputs[1]).rank() >= 2 && shape_of(graph, output_of(node)).elements() > 0;
}

/// The access pattern of operand ID of a batched GEMM with an output of shape OUTPUT: batch, rows, columns; TURNED:
/// batch, columns, rows.
Walked matrices(const Graph& graph, ValueId id, const Shape& output, bool turned) {
  const Shape& shape = shape_of(graph, id);
  const Shape steps = broadcast_steps(shape, output.rank());
  Walked walked{.value = id};
  for (int i = 0; i + 2 < output.rank(); ++i) walked.walk.loops[kBatch].push_back({output[i], steps[i]});
  const std::int64_t columns = shape.back();
  walked.walk.loops[turned ? kColumn : kRow] = {{shape[shape.rank() - 2], columns}};
  walked.walk.loops[turned ? kRow : kColumn] = {{columns, 1}};
  walked.walk.simplify();
  return walked;
}

/// The producers of the Softmax's input.
struct Scores {
  Walked query;
  Walked key;
  double scale = 1;
  std::optional<Walked> mask;
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
      const Walked value = matrices(graph_, node_.inputs[1 - weights], shape, turned);
      if (fits(scores->query) && fits(value))
        return fused(*scores, source_of(value, false), place_of(matrices(graph_, output_of(node_), shape, turned)));
    }
    return {};
  }

 private:
  static bool fits(const Walked& walked) { return walked.walk.turns(kColumn) <= kMostChannels; }

  /// Whether the value has a single reader, so that fusion makes it unused.
  bool is_alone(ValueId id) const { return sole_reader(graph_, id) != NodeId::kNone; }

  /// From the weights, indexed by query and key, back to the operands of the first GEMM.
  std::optional<Scores> scores_of(Walked weights) const {
    while (true) {
      if (!is_alone(weights.value)) return {};
      const Node* producer = graph_.producer(weights.value);
      if (producer != nullptr && producer->is("Softmax") && is_plain(*producer)) break;
      const auto before = walk_back(graph_, weights);
      if (!before || before->scale != 1) return {};
      weights = *before;
    }
    const Node& softmax = *graph_.producer(weights.value);
    if (!runs_along_keys(softmax, weights.walk)) return {};
    weights.value = softmax.inputs[0];
    return products_of(weights, {});
  }

  /// Whether the innermost loop is the dimension that Softmax normalises.
  bool runs_along_keys(const Node& softmax, const Walk& walk) const {
    const Shape& shape = shape_of(graph_, output_of(softmax));
    const int axis = InferContext::axis(softmax.attributes.integer("axis", -1), shape.rank());
    Origin along{.steps = Shape::filled(shape.rank(), 0)};
    along.steps[axis] = 1;
    const auto place = walk_through(walk, shape, along);
    if (!place || place->offset != 0 || !place->stands(kBatch) || !place->stands(kRow)) return false;
    return place->turns(kColumn) == shape[axis] && (shape[axis] == 1 || place->loops[kColumn].back().step == 1);
  }

  std::optional<Scores> products_of(Walked scores, std::optional<Walked> mask) const {
    while (true) {
      if (!is_alone(scores.value)) return {};
      const Node* producer = graph_.producer(scores.value);
      if (producer == nullptr) return {};
      if (is_product(graph_, *producer)) break;
      if (producer->is("Add") && is_plain(*producer)) return masked(scores, *producer, mask);
      const auto before = walk_back(graph_, scores);
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

  std::optional<Scores> masked(const Walked& scores, const Node& add, const std::optional<Walked>& mask) const {
    // A scale after the Add would apply to the mask, too.
    if (mask || scores.scale != 1) return {};
    const Shape& shape = shape_of(graph_, scores.value);
    for (const std::size_t i : {0, 1}) {
      const ValueId other = add.inputs[1 - i];
      if (shape_of(graph_, add.inputs[i]) != shape || graph_.value(other).layout != Layout::kRowMajor) continue;
      const auto walk =
          walk_through(scores.walk, shape, {.steps = broadcast_steps(shape_of(graph_, other), shape.rank())});
      if (!walk) continue;
      if (auto found =
              products_of({.value = add.inputs[i], .walk = scores.walk}, Walked{.value = other, .walk = *walk}))
        return found;
    }
    return {};
  }

  /// The access pattern of operand I of the GEMM that computes SCORES: batch, the loop that is not IDLE, and the summed
  /// dimension; nullopt if it depends on the IDLE loop.
  std::optional<Walked> operand_of(const Walked& scores, const Node& product, std::size_t i, Loop idle) const {
    const Shape& shape = shape_of(graph_, scores.value);
    const Shape& from = shape_of(graph_, product.inputs[i]);
    const int rows = from.rank() - 2;
    Origin origin{.steps = broadcast_steps(from, shape.rank())};
    // The left operand has the rows of the output, the right one its columns.
    origin.steps[shape.rank() - 2] = i == 0 ? from.back() : 0;
    origin.steps[shape.rank() - 1] = i == 0 ? 0 : 1;
    auto walk = walk_through(scores.walk, shape, origin);
    if (!walk || !walk->stands(idle)) return {};
    if (idle == kRow) walk->loops[kRow] = walk->loops[kColumn];
    walk->loops[kColumn] = {i == 0 ? Steady{from.back(), 1} : Steady{from[rows], from.back()}};
    walk->simplify();
    return Walked{.value = product.inputs[i], .walk = std::move(*walk)};
  }

  static bool is_steady(const Walked& walked) { return walked.walk.loops[kColumn].size() <= 1; }

  /// The operand at its producer. SCALED: a scale in between may be applied to the scores instead.
  Walked source_of(Walked operand, bool scaled) const {
    Walked source = operand;
    while (auto before = walk_back(graph_, operand)) {
      if (!scaled && before->scale != 1) break;
      operand = std::move(*before);
      if (is_steady(operand)) source = operand;
    }
    return source;
  }

  Walked place_of(Walked output) const {
    Walked place = output;
    while (auto next = walk_on(graph_, output)) {
      output = std::move(*next);
      if (is_steady(output)) place = output;
    }
    return place;
  }

  std::optional<Patch> fused(const Scores& scores, const Walked& value, const Walked& output) const {
    const DType dtype = graph_.value(output.value).type.dtype;
    for (const ValueId id : {scores.query.value, scores.key.value, value.value})
      if (graph_.value(id).type.dtype != dtype) return {};
    if (!is_float(dtype) || (scores.mask && !is_float(graph_.value(scores.mask->value).type.dtype))) return {};
    const Shape& shape = shape_of(graph_, output.value);
    Patch patch(graph_, fmt::format("{} with its Softmax and its heads", node_.name));
    Node node{.domain = "saccade",
              .op = "StridedAttention",
              .name = node_.name,
              .inputs = {scores.query.value, scores.key.value, value.value},
              .stage = node_.stage};
    node.attributes.set("query", scores.query.walk.to_integers());
    node.attributes.set("key", scores.key.walk.to_integers());
    node.attributes.set("value", value.walk.to_integers());
    node.attributes.set("output", output.walk.to_integers());
    node.attributes.set("shape", std::vector<std::int64_t>(shape.begin(), shape.end()));
    node.attributes.set("scale", static_cast<float>(scores.scale * scores.query.scale * scores.key.scale));
    if (scores.mask) {
      node.inputs.push_back(scores.mask->value);
      node.attributes.set("mask", scores.mask->walk.to_integers());
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
