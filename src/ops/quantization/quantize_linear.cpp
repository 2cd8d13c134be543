#include <algorithm>

#include "ops/core/dispatch.hpp"
#include "ops/core/values.hpp"
#include "ops/quantization/quantization.hpp"

// QuantizeLinear and DequantizeLinear, per tensor, per slice of an axis, or per block along it (inputs: x, scale, zero
// point, which is optional), and DynamicQuantizeLinear, which computes its scale.
namespace saccade {
namespace {

/// The axis whose slices or blocks have their own scales; 0 for a tensor with a single one.
int axis_of(const Attributes& attributes, const Shape& shape, const Shape& scale) {
  if (scale.elements() == 1) return 0;
  return InferContext::axis(attributes.integer("axis", 1), shape.rank());
}

/// The number of elements along the axis per scale; 0 for whole slices.
std::int64_t block_of(const Attributes& attributes) { return attributes.integer("block_size", 0); }

std::int64_t blocks_of(std::int64_t length, std::int64_t block) { return length == 0 ? 0 : (length - 1) / block + 1; }

void check_blocks(const InferContext& context, std::int64_t block, DType stored) {
  if (block < 0) fail(ErrorCode::kInvalidFile, "block_size {} is negative", block);
  Shape wanted = context.shape(0);
  const int axis = InferContext::axis(context.attributes().integer("axis", 1), wanted.rank());
  wanted[axis] = blocks_of(wanted[axis], block);
  require_type<float, Float16, BFloat16>(context.dtype(1), "a scale");
  for (int i = 1; i < 3; ++i)
    if (context.has(i) && context.shape(i) != wanted)
      fail(ErrorCode::kInvalidFile, "input {} of shape {} does not hold one number per block, {}", i,
           context.shape(i).to_string(), wanted.to_string());
  if (context.has(2) && context.dtype(2) != stored)
    fail(ErrorCode::kInvalidFile, "the zero points are {}, not {} like their tensor", to_string(context.dtype(2)),
         to_string(stored));
}

void check_common(const InferContext& context, DType stored) {
  if (const std::int64_t block = block_of(context.attributes()); block != 0)
    return check_blocks(context, block, stored);
  const Shape& shape = context.shape(0);
  const int axis = axis_of(context.attributes(), shape, context.shape(1));
  check_quantization(context, 1, 2, stored, shape.rank() == 0 ? 1 : shape[axis]);
}

/// Expands per-block scales and zero points along their axis to one per element of a tensor of SHAPE.
Quantization spread(const Quantization& blocks, const Shape& shape, std::int64_t block) {
  std::int64_t inner = 1;
  for (int i = blocks.axis + 1; i < shape.rank(); ++i) inner *= shape[i];
  const std::int64_t length = shape[blocks.axis];
  Quantization spread{.axis = shape.rank() - 1};
  for (std::int64_t i = 0; i < shape.elements(); ++i) {
    const std::int64_t entry = i / (inner * length) * blocks_of(length, block) + i / inner % length / block;
    const auto at = static_cast<std::size_t>(entry * inner + i % inner);
    spread.scale.push_back(blocks.scale[at]);
    if (!blocks.zero_point.empty()) spread.zero_point.push_back(blocks.zero_point[at]);
  }
  return spread;
}

Quantization quantization_of(const KernelContext& context) {
  const Shape& shape = context.input(0).shape;
  const Quantization given =
      quantization_of(context, 1, 2, axis_of(context.attributes(), shape, context.input(1).shape));
  const std::int64_t block = block_of(context.attributes());
  return block == 0 || given.scale.size() == 1 ? given : spread(given, shape, block);
}

/// The type given by attribute NAME, or OTHERWISE.
DType type_of(const Attributes& attributes, std::string_view name, DType otherwise) {
  const std::int64_t number = attributes.integer(name, 0);
  return number == 0 ? otherwise : dtype_of_onnx(number);
}

void infer_quantize(InferContext& context) {
  require_type<float, Float16, BFloat16, std::int32_t>(context.dtype(0), "an input");
  const DType stored = type_of(context.attributes(), "output_dtype", context.has(2) ? context.dtype(2) : DType::kUInt8);
  require_type<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t>(stored, "a quantised output");
  check_common(context, stored);
  require_type<float, Float16, BFloat16>(type_of(context.attributes(), "precision", context.dtype(1)), "a precision");
  context.output(0, stored, context.shape(0));
}

void reference_quantize(const KernelContext& context) {
  const Quantization quantization = quantization_of(context);
  const DType precision = type_of(context.attributes(), "precision", context.input(1).dtype);
  with_type<float, Float16, BFloat16, std::int32_t>(context.input(0).dtype, [&]<typename T>(std::type_identity<T>) {
    const auto values = context.in<T>(0);
    if constexpr (std::is_same_v<T, float>) {
      quantize(values, quantization, context.output(), precision);
    } else {
      std::vector<float> real(values.size());
      std::ranges::transform(values, real.begin(), [](T value) { return static_cast<float>(value); });
      quantize(real, quantization, context.output(), precision);
    }
  });
}

void infer_dequantize(InferContext& context) {
  require_type<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t>(context.dtype(0), "an input");
  check_common(context, context.dtype(0));
  const DType real = type_of(context.attributes(), "output_dtype", context.dtype(1));
  require_type<float, Float16, BFloat16>(real, "a dequantised output");
  context.output(0, real, context.shape(0));
}

void reference_dequantize(const KernelContext& context) {
  const TensorView& input = context.input(0);
  const Quantization quantization = quantization_of(context);
  with_type<float, Float16, BFloat16>(context.output().dtype, [&]<typename T>(std::type_identity<T>) {
    if constexpr (std::is_same_v<T, float>) {
      dequantize(input, quantization, context.out<float>());
    } else {
      std::vector<float> real(static_cast<std::size_t>(input.elements()));
      dequantize(input, quantization, real);
      std::ranges::transform(real, context.out<T>().begin(), [](float value) { return T(value); });
    }
  });
}

void infer_dynamic(InferContext& context) {
  require_type<float>(context.dtype(0), "an input");
  context.output(0, DType::kUInt8, context.shape(0));
  context.output(1, DType::kFloat32, {});
  context.output(2, DType::kUInt8, {});
}

void reference_dynamic(const KernelContext& context) {
  float lowest = 0;
  float highest = 0;
  for (const float value : context.in<float>(0)) {
    lowest = value < lowest ? value : lowest;
    highest = value > highest ? value : highest;
  }
  const auto [scale, zero_point] = dynamic_quantization(lowest, highest);
  if (context.wants(0))
    quantize(context.in<float>(0), {.scale = {scale}, .zero_point = {zero_point}}, context.output());
  if (context.wants(1)) context.out<float>(1)[0] = scale;
  if (context.wants(2)) context.out<std::uint8_t>(2)[0] = zero_point;
}

constexpr Op kQuantizeLinearOps[] = {
    {"", "QuantizeLinear", infer_quantize, reference_quantize, {.arity = {2, 3}, .layout_agnostic = true}},
    {"", "DequantizeLinear", infer_dequantize, reference_dequantize, {.arity = {2, 3}, .layout_agnostic = true}},
    {"", "DynamicQuantizeLinear", infer_dynamic, reference_dynamic, {.layout_agnostic = true}},
};

}  // namespace

std::span<const Op> quantize_linear_ops() { return kQuantizeLinearOps; }

}  // namespace saccade
