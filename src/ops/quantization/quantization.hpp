#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ops/core/op.hpp"

namespace saccade {

/// VALUE (already divided by the scale) as T: rounded half to even, offset by the zero point, saturated. NaN becomes
/// the lowest value.
template <typename T>
T quantize(float value, std::int32_t zero_point) {
  using Limits = std::numeric_limits<T>;
  const float moved = std::nearbyint(value) + static_cast<float>(zero_point);
  if (!(moved > static_cast<float>(Limits::lowest()))) return Limits::lowest();
  return moved < static_cast<float>(Limits::max()) ? static_cast<T>(moved) : Limits::max();
}

/// DynamicQuantizeLinear's parameters for numbers from LOWEST to HIGHEST. The range always includes 0, which must be
/// representable exactly; an empty range counts as 1.
struct DynamicQuantization {
  float scale;
  std::uint8_t zero_point;
};
inline DynamicQuantization dynamic_quantization(float lowest, float highest) {
  const float scale = (lowest == highest ? 1 : highest - lowest) / 255;
  return {scale, quantize<std::uint8_t>(-lowest / scale, 0)};
}

/// Checks a quantized tensor's scale (input SCALE; float32 or half precision) and zero point (input ZERO_POINT, of type
/// STORED; optional): per tensor, or per each of COUNT slices.
void check_quantization(const InferContext& context, int scale, int zero_point, DType stored, std::int64_t count = 1);

/// The same in a kernel; an omitted zero point is 0. Slices are along AXIS.
Quantization quantization_of(const KernelContext& context, int scale, int zero_point, int axis = 0);
/// A zero point without a scale, for integer results.
Quantization zero_point_of(const KernelContext& context, int zero_point, int axis = 0);

/// stored - zero_point, as unsigned numbers whose sums and products wrap around as those of int32 do.
std::vector<std::uint32_t> centered(const TensorView& stored, const Quantization& quantization);
/// real = scale * (stored - zero_point). Stored: 8, 16 or 32 bits.
void dequantize(const TensorView& stored, const Quantization& quantization, std::span<float> real);
/// stored = saturate(round(real / scale) + zero_point). Stored: 8 or 16 bits. The division is in PRECISION: float32 or
/// half precision.
void quantize(std::span<const float> real, const Quantization& quantization, const TensorView& stored,
              DType precision = DType::kFloat32);

}  // namespace saccade
