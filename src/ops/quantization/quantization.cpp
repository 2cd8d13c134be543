#include "ops/quantization/quantization.hpp"

#include "ops/core/dispatch.hpp"

namespace saccade {
namespace {

/// Calls visit(first, count, slice) for every run of elements with the same scale.
template <typename Visit>
void for_each_slice(const Shape& shape, const Quantization& quantization, const Visit& visit) {
  if (shape.elements() == 0) return;
  const auto slices =
      std::max<std::int64_t>(std::max(std::ssize(quantization.scale), std::ssize(quantization.zero_point)), 1);
  std::int64_t run = shape.elements();
  if (slices > 1) {
    run = 1;
    for (int i = quantization.axis + 1; i < shape.rank(); ++i) run *= shape[i];
  }
  for (std::int64_t i = 0; i * run < shape.elements(); ++i)
    visit(static_cast<std::size_t>(i * run), static_cast<std::size_t>(run), static_cast<std::size_t>(i % slices));
}

std::int32_t zero_point_at(const Quantization& quantization, std::size_t slice) {
  const auto& all = quantization.zero_point;
  return all.empty() ? 0 : all[all.size() == 1 ? 0 : slice];
}

float scale_at(const Quantization& quantization, std::size_t slice) {
  return quantization.scale[quantization.scale.size() == 1 ? 0 : slice];
}

void check_count(const InferContext& context, int i, std::int64_t count) {
  const Shape& shape = context.shape(i);
  if (shape.elements() != 1 && (shape.rank() != 1 || shape[0] != count))
    fail(ErrorCode::kUnsupported, "input {} of shape {} must hold one number, or one for each of {} slices", i,
         shape.to_string(), count);
}

}  // namespace

void check_quantization(const InferContext& context, int scale, int zero_point, DType stored, std::int64_t count) {
  require_type<float, Float16, BFloat16>(context.dtype(scale), "a scale");
  check_count(context, scale, count);
  if (!context.has(zero_point)) return;
  check_count(context, zero_point, count);
  if (context.dtype(zero_point) != stored)
    fail(ErrorCode::kInvalidFile, "zero point {} is {}, not {} like its tensor", zero_point,
         to_string(context.dtype(zero_point)), to_string(stored));
}

Quantization zero_point_of(const KernelContext& context, int zero_point, int axis) {
  Quantization quantization{.axis = axis};
  if (!context.has(zero_point)) return quantization;
  with_type<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t>(
      context.input(zero_point).dtype, [&]<typename T>(std::type_identity<T>) {
        const auto values = context.in<T>(zero_point);
        quantization.zero_point.assign(values.begin(), values.end());
      });
  return quantization;
}

Quantization quantization_of(const KernelContext& context, int scale, int zero_point, int axis) {
  Quantization quantization = zero_point_of(context, zero_point, axis);
  with_type<float, Float16, BFloat16>(context.input(scale).dtype, [&]<typename T>(std::type_identity<T>) {
    const auto values = context.in<T>(scale);
    quantization.scale.assign(values.begin(), values.end());
  });
  return quantization;
}

std::vector<std::uint32_t> centered(const TensorView& stored, const Quantization& quantization) {
  std::vector<std::uint32_t> result(static_cast<std::size_t>(stored.elements()));
  with_type<std::int8_t, std::uint8_t>(stored.dtype, [&]<typename T>(std::type_identity<T>) {
    const auto values = stored.as<const T>();
    for_each_slice(stored.shape, quantization, [&](std::size_t first, std::size_t count, std::size_t slice) {
      const std::int32_t zero = zero_point_at(quantization, slice);
      for (std::size_t i = first; i < first + count; ++i) result[i] = static_cast<std::uint32_t>(values[i] - zero);
    });
  });
  return result;
}

void dequantize(const TensorView& stored, const Quantization& quantization, std::span<float> real) {
  with_type<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t>(
      stored.dtype, [&]<typename T>(std::type_identity<T>) {
        const auto values = stored.as<const T>();
        for_each_slice(stored.shape, quantization, [&](std::size_t first, std::size_t count, std::size_t slice) {
          const std::int64_t zero = zero_point_at(quantization, slice);
          const float scale = scale_at(quantization, slice);
          for (std::size_t i = first; i < first + count; ++i)
            real[i] = static_cast<float>(static_cast<std::int64_t>(values[i]) - zero) * scale;
        });
      });
}

void quantize(std::span<const float> real, const Quantization& quantization, const TensorView& stored,
              DType precision) {
  const auto write = [&]<typename T, typename Real>(std::type_identity<T>, std::type_identity<Real>) {
    const auto values = stored.as<T>();
    for_each_slice(stored.shape, quantization, [&](std::size_t first, std::size_t count, std::size_t slice) {
      const std::int32_t zero = zero_point_at(quantization, slice);
      const auto scale = static_cast<float>(Real(scale_at(quantization, slice)));
      for (std::size_t i = first; i < first + count; ++i)
        values[i] = quantize<T>(static_cast<float>(Real(static_cast<float>(Real(real[i])) / scale)), zero);
    });
  };
  with_type<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t>(stored.dtype, [&](auto type) {
    with_type<float, Float16, BFloat16>(precision, [&](auto real_type) { write(type, real_type); });
  });
}

}  // namespace saccade
