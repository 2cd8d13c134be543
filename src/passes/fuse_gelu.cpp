#include <cmath>
#include <numbers>

#include "passes/core/match.hpp"

// Fuses x * 0.5 * (1 + Erf(x / sqrt(2))), multiplied in any order, to Gelu.
namespace saccade {
namespace {

bool is_near(std::optional<float> value, double wanted) {
  return value && std::abs(static_cast<double>(*value) - wanted) <= 1e-4 * wanted;
}

/// The x of 1 + Erf(x / sqrt(2)), or kNone.
ValueId inside_erf(const Graph& graph, ValueId factor) {
  const Node* sum = graph.producer(factor);
  if (sum == nullptr || !sum->is("Add") || !is_plain(*sum)) return ValueId::kNone;
  for (std::size_t i = 0; i < 2; ++i) {
    const Node* erf = graph.producer(sum->inputs[i]);
    if (erf == nullptr || !erf->is("Erf") || !is_plain(*erf) || !is_near(scalar_constant(graph, sum->inputs[1 - i]), 1))
      continue;
    const Node* scaled = graph.producer(erf->inputs[0]);
    if (scaled == nullptr || !is_plain(*scaled)) continue;
    if (scaled->is("Div") && is_near(scalar_constant(graph, scaled->inputs[1]), std::numbers::sqrt2))
      return scaled->inputs[0];
    if (!scaled->is("Mul")) continue;
    for (std::size_t k = 0; k < 2; ++k)
      if (is_near(scalar_constant(graph, scaled->inputs[k]), std::numbers::sqrt2 / 2)) return scaled->inputs[1 - k];
  }
  return ValueId::kNone;
}

/// The three factors of two nested Muls, or fewer.
std::vector<ValueId> factors_of(const Graph& graph, NodeId id) {
  const Node& outer = graph.node(id);
  for (std::size_t i = 0; i < 2; ++i) {
    const Node* inner = producer_for(graph, outer.inputs[i], id);
    if (inner != nullptr && inner->is("Mul") && is_plain(*inner))
      return {outer.inputs[1 - i], inner->inputs[0], inner->inputs[1]};
  }
  return {};
}

/// The x of a Gelu with these three factors, in any order.
ValueId argument(const Graph& graph, const std::vector<ValueId>& factors) {
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const ValueId x = inside_erf(graph, factors[i]);
    if (x == ValueId::kNone) continue;
    const ValueId left = factors[(i + 1) % 3];
    const ValueId right = factors[(i + 2) % 3];
    if (left == x && is_near(scalar_constant(graph, right), 0.5)) return x;
    if (right == x && is_near(scalar_constant(graph, left), 0.5)) return x;
  }
  return ValueId::kNone;
}

}  // namespace

std::optional<Patch> fuse_gelu(const PassContext& context, NodeId id) {
  const Graph& graph = context.graph;
  const Node& product = graph.node(id);
  if (!product.is("Mul") || !is_plain(product) || !is_float32(graph, output_of(product))) return {};
  const ValueId x = argument(graph, factors_of(graph, id));
  if (x == ValueId::kNone || graph.value(x).type != graph.value(output_of(product)).type) return {};
  Patch patch(graph, fmt::format("Gelu at {}", product.name));
  Node gelu{.op = "Gelu", .name = product.name, .inputs = {x}, .stage = product.stage};
  patch.replace(output_of(product),
                patch.add_node_with_output(std::move(gelu), {}, graph.value(output_of(product)).layout));
  return patch;
}

}  // namespace saccade
