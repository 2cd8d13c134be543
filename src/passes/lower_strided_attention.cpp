#include "ops/layers/strided_attention.hpp"
#include "passes/core/match.hpp"
#include "passes/core/steps.hpp"

// Lowers StridedAttention for targets without a kernel for it: gathers the access patterns of the operands into
// matrices, computes GEMM, Softmax, GEMM, and scatters the output, expressed as a Gather.
namespace saccade {
namespace {

/// The element indices of an access pattern, as a tensor with its loops as dimensions.
Tensor places_of(const AccessPattern& pattern) {
  Tensor places(DType::kInt64, {pattern.iterations(0), pattern.iterations(1), pattern.iterations(2)});
  auto next = places.data<std::int64_t>().begin();
  for (std::int64_t i = 0; i < pattern.iterations(0); ++i)
    for (std::int64_t j = 0; j < pattern.iterations(1); ++j)
      for (std::int64_t k = 0; k < pattern.iterations(2); ++k)
        *next++ = pattern.offset + pattern.along(0, i) + pattern.along(1, j) + pattern.along(2, k);
  return places;
}

/// The inverse of an access pattern that visits every element of SHAPE once: the iteration of each element.
Tensor turns_of(const AccessPattern& pattern, const Shape& shape) {
  const Tensor places = places_of(pattern);
  Tensor turns(DType::kInt64, shape);
  std::int64_t turn = 0;
  for (const std::int64_t place : places.data<std::int64_t>())
    turns.data<std::int64_t>()[static_cast<std::size_t>(place)] = turn++;
  return turns;
}

class MatrixSteps {
 public:
  MatrixSteps(const Graph& graph, const Node& node, Patch& patch)
      : graph_(graph), node_(node), steps_(patch, node), patterns_(attention_patterns(graph, node)) {}

  ValueId output() {
    // Keys are read channels first, as the GEMM requires.
    AccessPattern keys = patterns_.key;
    std::swap(keys.loops[1], keys.loops[2]);
    ValueId scores = product("scores", operand("query", 0, patterns_.query), operand("key", 1, keys));
    const float scale = node_.attributes.real("scale", 1);
    scores = binary("scaled", "Mul", scores, steps_.constant("scale", Tensor::scalar(scale)));
    if (patterns_.mask) scores = binary("masked", "Add", scores, operand("mask", 3, *patterns_.mask));
    Node softmax{.op = "Softmax", .inputs = {scores}};
    softmax.attributes.set("axis", std::int64_t{2});
    const ValueId weights = steps_.add("weights", std::move(softmax));
    const ValueId products = product("products", weights, operand("value", 2, patterns_.value));
    const Shape& shape = graph_.value(output_of(node_)).type.shape;
    return gathered("output", products, shape.elements(), turns_of(patterns_.output, shape));
  }

 private:
  ValueId binary(std::string_view name, std::string op, ValueId a, ValueId b) {
    return steps_.add(name, {.op = std::move(op), .inputs = {a, b}});
  }
  ValueId product(std::string_view name, ValueId a, ValueId b) { return binary(name, "MatMul", a, b); }
  ValueId operand(const std::string& name, std::size_t i, const AccessPattern& pattern) {
    const ValueId from = node_.inputs[i];
    return gathered(name, from, graph_.value(from).type.shape.elements(), places_of(pattern));
  }
  /// The elements of FROM with the indices PLACES.
  ValueId gathered(const std::string& name, ValueId from, std::int64_t elements, Tensor places) {
    const ValueId line = steps_.reshape(name + ".line", from, {elements});
    Node gather{.op = "Gather", .inputs = {line, steps_.constant(name + ".places", std::move(places))}};
    gather.attributes.set("axis", std::int64_t{0});
    return steps_.add(name, std::move(gather));
  }

  const Graph& graph_;
  const Node& node_;
  Steps steps_;
  AttentionPatterns patterns_;
};

}  // namespace

std::optional<Patch> lower_strided_attention(const PassContext& context, NodeId id) {
  const Graph& graph = context.graph;
  const Node& node = graph.node(id);
  if (context.target.fuses_attention || !node.is("StridedAttention", "saccade") || !is_plain(node)) return {};
  for (const ValueId input : node.inputs)
    if (input != ValueId::kNone && !is_float32(graph, input)) return {};
  Patch patch(graph, fmt::format("{} to MatMul, Softmax, MatMul", node.name));
  patch.replace(output_of(node), MatrixSteps(graph, node, patch).output());
  return patch;
}

}  // namespace saccade
