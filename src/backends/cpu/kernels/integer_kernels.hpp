#pragma once

#include <cstddef>
#include <cstdint>

namespace saccade::cpu {

/// Kernels for the epilogue of int8 GEMMs on this processor. Sums wrap around like int32.
struct IntegerKernels {
  /// The sum of COUNT bytes.
  std::uint32_t (*sum)(const std::uint8_t* src, std::size_t count);
  /// sums[i] += src[i]
  void (*add)(const std::int8_t* src, std::uint32_t* sums, std::size_t count);
  /// sums[i] += offsets[i] + row * factors[i]
  void (*correct)(std::uint32_t* sums, const std::uint32_t* offsets, std::uint32_t row, const std::uint32_t* factors,
                  std::size_t count);
  /// dst = saturate(round_half_even(sums[i] * factors[i]) + zero_point), with sums as int32; NaN becomes the lowest
  /// value.
  void (*requantize_u8)(const std::uint32_t* sums, const float* factors, float zero_point, std::uint8_t* dst,
                        std::size_t count);
  void (*requantize_s8)(const std::uint32_t* sums, const float* factors, float zero_point, std::int8_t* dst,
                        std::size_t count);
  /// dst = src, rounded to float32.
  void (*to_float)(const std::int32_t* src, float* dst, std::size_t count);
  /// Extends the range LOWEST to HIGHEST to include the elements of SRC; NaN is ignored.
  void (*range)(const float* src, std::size_t count, float& lowest, float& highest);
};

const IntegerKernels& integer_kernels();

}  // namespace saccade::cpu
