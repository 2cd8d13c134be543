#include <algorithm>
#include <array>

#include "passes/core/match.hpp"
#include "passes/core/steps.hpp"

// Lowers com.microsoft's concatenation and average pooling of 8-bit integers with different scales to ONNX's operators
// in float32, between DequantizeLinear and QuantizeLinear, for which backends have fast kernels.
namespace saccade {
namespace {

constexpr std::string_view kPrefix = "QLinear";
// operator list: no backend has a kernel for these.
constexpr std::array kLowered =
    std::to_array<std::string_view>({"QLinearAveragePool", "QLinearConcat", "QLinearGlobalAveragePool"});

struct Operands {
  std::size_t first;   ///< of triples: tensor, scale, zero point
  std::size_t end;     ///< after the last
  std::size_t output;  ///< the output's scale; its zero point is next
};

Operands operands_of(const Node& node) {
  if (node.op == "QLinearConcat") return {.first = 2, .end = node.inputs.size(), .output = 0};
  return {.first = 0, .end = 3, .output = 3};
}

ValueId input(const Node& node, std::size_t i) { return i < node.inputs.size() ? node.inputs[i] : ValueId::kNone; }

bool has_real_scales(const Graph& graph, const Node& node, const Operands& operands) {
  for (std::size_t i = operands.first; i < operands.end; i += 3)
    if (!is_float32(graph, input(node, i + 1))) return false;
  return is_float32(graph, input(node, operands.output));
}

}  // namespace

std::optional<Patch> lower_quantized(const PassContext& context, NodeId id) {
  const Graph& graph = context.graph;
  const Node& node = graph.node(id);
  if (node.domain != "com.microsoft" || std::ranges::find(kLowered, node.op) == kLowered.end() || !is_plain(node))
    return {};
  const Operands operands = operands_of(node);
  if (!has_real_scales(graph, node, operands)) return {};
  Patch patch(graph, fmt::format("{} in real numbers", node.name));
  Steps steps(patch, node);
  Node real{.op = node.op.substr(kPrefix.size()), .attributes = node.attributes};
  real.attributes.erase("channels_last");
  for (std::size_t i = operands.first; i < operands.end; i += 3)
    real.inputs.push_back(
        steps.add(fmt::format("operand{}", real.inputs.size()),
                  {.op = "DequantizeLinear", .inputs = {input(node, i), input(node, i + 1), input(node, i + 2)}}));
  const ValueId result = steps.add("real", std::move(real));
  ValueId zero_point = input(node, operands.output + 1);
  if (zero_point == ValueId::kNone) {
    // The zero point determines the integer type.
    Tensor none(graph.value(output_of(node)).type.dtype, {});
    std::ranges::fill(std::span(none.raw(), none.bytes()), std::byte{0});
    zero_point = steps.constant("zero_point", std::move(none));
  }
  patch.replace(output_of(node), steps.add("stored", {.op = "QuantizeLinear",
                                                      .inputs = {result, input(node, operands.output), zero_point}}));
  return patch;
}

}  // namespace saccade
