#include <algorithm>

#include "cuda/codegen/element_tactic.hpp"
#include "cuda/codegen/quantization_code.hpp"
#include "cuda/codegen/window_code.hpp"
#include "cuda/tactics/tactics.hpp"
#include "ops/layers/convolve.hpp"
#include "ops/layers/matmul_shape.hpp"

// Convolutions and GEMMs of 8-bit integers with int32 accumulators, one thread per output: QLinearConv and
// QLinearMatMul (requantised to 8 bits), ConvInteger and MatMulInteger (int32).
namespace saccade::cuda {
namespace {

/// Input indices of an operator; -1: it has no such input.
struct OperandIndices {
  std::string_view op;
  bool convolves;
  int right;
  int left_zero;
  int right_zero;
  int left_scale = -1;
  int right_scale = -1;
  int output_scale = -1;
  int output_zero = -1;
  int bias = -1;
};

// operator list: the operators that have a kernel.
constexpr OperandIndices kOperandIndices[] = {
    {"ConvInteger", true, 1, 2, 3},
    {"MatMulInteger", false, 1, 2, 3},
    {"QLinearConv", true, 3, 2, 5, 1, 4, 6, 7, 8},
    {"QLinearMatMul", false, 3, 2, 5, 1, 4, 6, 7},
};

const OperandIndices* find_operands(const Node& node) {
  const auto found = std::ranges::find(kOperandIndices, node.op, &OperandIndices::op);
  return node.domain.empty() && found != std::end(kOperandIndices) ? found : nullptr;
}

Support supports_integers(const NodeContext& context) {
  if (find_operands(context.node) == nullptr)
    return Support::other_operator("not an 8-bit integer GEMM or convolution");
  return {};
}

/// Input I, which has one element or one per SLICE.
std::string scalar_or_slice(ElementCode& code, int i, const std::string& slice) {
  const Shape& shape = code.context().input(i).type.shape;
  return shape.elements() == 1 ? code.input(i, Index(static_cast<std::size_t>(shape.rank()), "0"))
                               : code.input(i, {slice});
}

std::string zero_point_or_zero(ElementCode& code, int i, const std::string& slice) {
  return code.context().has(i) ? code.let("int32", scalar_or_slice(code, i, slice)) : std::string("0");
}

/// Declares the accumulator of convolution output AT. Padding equals the zero point, so it adds nothing.
std::string convolution_sum(ElementCode& code, const OperandIndices& operands, const Index& at,
                            const std::string& filter) {
  const NodeContext& context = code.context();
  const ConvShape shape =
      conv_shape(context.node.attributes, context.input(0).type.shape, context.input(operands.right).type.shape);
  const std::int64_t channels = shape.channels / shape.groups;
  const std::string left_zero = zero_point_or_zero(code, operands.left_zero, "0");
  const std::string right_zero = zero_point_or_zero(code, operands.right_zero, filter);
  const std::string first =
      shape.groups == 1
          ? "0"
          : code.let("int32", fmt::format("{} / {} * {}", filter, shape.filters / shape.groups, channels));
  std::string sum = declare(code, "int32", "0");
  Braces braces(code);
  const Tap tap = open_taps(code, braces, shape.window, at);
  const std::string channel = braces.loop(channels);
  const std::string from = code.let("int32", first + " + " + channel);
  code.line(fmt::format("{} += (int32({}) - {}) * (int32({}) - {});", sum,
                        code.input(0, place_of(at[0], from, tap.input)), left_zero,
                        code.input(operands.right, place_of(filter, channel, tap.kernel)), right_zero));
  return sum;
}

Index matrix_of(const Index& at, std::size_t batches, const Shape& operand) {
  Index index;
  const int own = std::max(operand.rank() - 2, 0);
  for (int i = 0; i < own; ++i)
    index.push_back(operand[i] == 1 ? "0" : at[batches - static_cast<std::size_t>(own - i)]);
  return index;
}

std::string product_sum(ElementCode& code, const OperandIndices& operands, const Index& at, const std::string& column) {
  const NodeContext& context = code.context();
  const Shape& left = context.input(0).type.shape;
  const Shape& right = context.input(operands.right).type.shape;
  const std::size_t batches = at.size() - (left.rank() > 1 ? 1 : 0) - (right.rank() > 1 ? 1 : 0);
  const std::string left_zero = zero_point_or_zero(code, operands.left_zero, "0");
  const std::string right_zero = zero_point_or_zero(code, operands.right_zero, column);
  std::string sum = declare(code, "int32", "0");
  Braces braces(code);
  const std::string k = braces.loop(MatMulShape(left, right).k);
  Index from_left = matrix_of(at, batches, left);
  if (left.rank() > 1) from_left.push_back(at[batches]);
  from_left.push_back(k);
  Index from_right = matrix_of(at, batches, right);
  from_right.push_back(k);
  if (right.rank() > 1) from_right.push_back(column);
  code.line(fmt::format("{} += (int32({}) - {}) * (int32({}) - {});", sum, code.input(0, from_left), left_zero,
                        code.input(operands.right, from_right), right_zero));
  return sum;
}

std::string integer_product(ElementCode& code, int /*output*/, const Index& at) {
  const NodeContext& context = code.context();
  const OperandIndices& operands = *find_operands(context.node);
  const bool has_columns = operands.convolves || context.input(operands.right).type.shape.rank() > 1;
  const std::string slice = has_columns ? code.let("int32", operands.convolves ? at[1] : at.back()) : std::string("0");
  std::string sum =
      operands.convolves ? convolution_sum(code, operands, at, slice) : product_sum(code, operands, at, slice);
  if (operands.bias >= 0 && context.has(operands.bias)) sum += " + " + code.input(operands.bias, {slice});
  if (operands.left_scale < 0) return sum;
  const std::string factor =
      code.let("float", fmt::format("{} * {} / {}", scalar_or_slice(code, operands.left_scale, "0"),
                                    scalar_or_slice(code, operands.right_scale, slice),
                                    scalar_or_slice(code, operands.output_scale, "0")));
  const std::string ratio = code.let("float", fmt::format("float({}) * {}", sum, factor));
  return quantized(context.output().type.dtype, ratio, zero_point_or_zero(code, operands.output_zero, "0"));
}

}  // namespace

std::unique_ptr<Tactic> integer_products(Device& device) {
  return element_tactic(device, {"direct.integers", supports_integers, integer_product, "quantization.cuh"});
}

}  // namespace saccade::cuda
