#include "cuda/codegen/element_tactic.hpp"
#include "cuda/codegen/quantization_code.hpp"
#include "cuda/tactics/tactics.hpp"

// QLinearAdd and QLinearMul of com.microsoft: dequantise both operands, combine, requantise. Inputs: A, its scale and
// zero point; B, its scale and zero point; the output's scale and zero point.
namespace saccade::cuda {
namespace {

Support supports_pair(const NodeContext& context) {
  const Node& node = context.node;
  if (!node.is("QLinearAdd", "com.microsoft") && !node.is("QLinearMul", "com.microsoft"))
    return Support::other_operator("not a QLinearAdd or QLinearMul");
  for (int i = 0; i < context.input_count(); ++i)
    if (i != 0 && i != 3 && context.has(i) && context.input(i).type.shape.elements() != 1)
      return Support::no("it has several scales");
  return {};
}

/// The only element of input I; 0 for an absent zero point.
std::string scalar(ElementCode& code, int i, std::string_view type) {
  if (!code.context().has(i)) return "0";
  const auto rank = static_cast<std::size_t>(code.context().input(i).type.shape.rank());
  return code.let(type, code.input(i, Index(rank, "0")));
}

std::string operand(ElementCode& code, int i, const Index& at) {
  const std::string zero = scalar(code, i + 2, "int32");
  const std::string scale = scalar(code, i + 1, "float");
  return code.let("float", fmt::format("float(int32({}) - {}) * {}", code.broadcast(i, at), zero, scale));
}

std::string pair_element(ElementCode& code, int /*output*/, const Index& at) {
  const std::string a = operand(code, 0, at);
  const std::string b = operand(code, 3, at);
  const bool adds = code.node().op == "QLinearAdd";
  // Rounded before the division, as between two nodes.
  const std::string real = code.let("float", fmt::format("{}({}, {})", adds ? "__fadd_rn" : "__fmul_rn", a, b));
  const std::string ratio = code.let("float", fmt::format("{} / {}", real, scalar(code, 6, "float")));
  return quantized(code.context().output().type.dtype, ratio, scalar(code, 7, "int32"));
}

}  // namespace

std::unique_ptr<Tactic> quantized_pairs(Device& device) {
  return element_tactic(device, {"elements.quantized_pairs", supports_pair, pair_element, "quantization.cuh"});
}

}  // namespace saccade::cuda
