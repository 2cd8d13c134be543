#include "ops/dispatch.hpp"
#include "ops/quantization.hpp"

// QuantizeLinear and DequantizeLinear, per tensor or per slice of an axis. Inputs: x, scale, zero point (optional).
namespace saccade {
namespace {

/// The axis whose slices have scales of their own; 0 for a tensor with a single one.
int axis_of(const Attributes& attributes, const Shape& shape, const Shape& scale) {
  if (scale.elements() == 1) return 0;
  return InferContext::axis(attributes.integer("axis", 1), shape.rank());
}

void check_common(const InferContext& context, DType stored) {
  if (context.attributes().integer("block_size", 0) != 0)
    fail(ErrorCode::kUnsupported, "quantisation in blocks (block_size) is not supported");
  const Shape& shape = context.shape(0);
  const int axis = axis_of(context.attributes(), shape, context.shape(1));
  check_quantization(context, 1, 2, stored, shape.rank() == 0 ? 1 : shape[axis]);
}

/// The type that output_dtype (a number of ONNX's TensorProto.DataType) asks for; OTHERWISE where it does not.
DType output_type(const Attributes& attributes, DType otherwise) {
  switch (attributes.integer("output_dtype", 0)) {
    case 0: return otherwise;
    case 1: return DType::kFloat32;
    case 2: return DType::kUInt8;
    case 3: return DType::kInt8;
    case 4: return DType::kUInt16;
    case 5: return DType::kInt16;
    case 10: return DType::kFloat16;
    default: fail(ErrorCode::kUnsupported, "output_dtype {} is not supported", attributes.integer("output_dtype", 0));
  }
}

void infer_quantize(InferContext& context) {
  require_type<float, Float16, std::int32_t>(context.dtype(0), "an input");
  const DType stored = output_type(context.attributes(), context.has(2) ? context.dtype(2) : DType::kUInt8);
  require_type<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t>(stored, "a quantised output");
  check_common(context, stored);
  context.output(0, stored, context.shape(0));
}

void reference_quantize(const KernelContext& context) {
  const TensorView& input = context.input(0);
  const Quantization quantization =
      quantization_of(context, 1, 2, axis_of(context.attributes(), input.shape, context.input(1).shape));
  with_type<float, Float16, std::int32_t>(input.dtype, [&]<typename T>(std::type_identity<T>) {
    const auto values = context.in<T>(0);
    if constexpr (std::is_same_v<T, float>) {
      quantize(values, quantization, context.output());
    } else {
      std::vector<float> real(values.size());
      std::ranges::transform(values, real.begin(), [](T value) { return static_cast<float>(value); });
      quantize(real, quantization, context.output());
    }
  });
}

void infer_dequantize(InferContext& context) {
  require_type<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t>(context.dtype(0), "an input");
  check_common(context, context.dtype(0));
  const DType real = output_type(context.attributes(), context.dtype(1));
  require_type<float, Float16>(real, "a dequantised output");
  context.output(0, real, context.shape(0));
}

void reference_dequantize(const KernelContext& context) {
  const TensorView& input = context.input(0);
  const Quantization quantization =
      quantization_of(context, 1, 2, axis_of(context.attributes(), input.shape, context.input(1).shape));
  if (context.output().dtype == DType::kFloat32) return dequantize(input, quantization, context.out<float>());
  std::vector<float> real(static_cast<std::size_t>(input.elements()));
  dequantize(input, quantization, real);
  std::ranges::transform(real, context.out<Float16>().begin(), [](float value) { return Float16(value); });
}

constexpr Op kOps[] = {
    {"", "QuantizeLinear", infer_quantize, reference_quantize},
    {"", "DequantizeLinear", infer_dequantize, reference_dequantize},
};

}  // namespace

std::span<const Op> quantize_linear_ops() { return kOps; }

}  // namespace saccade
