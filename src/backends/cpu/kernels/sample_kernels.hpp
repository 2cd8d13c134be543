#pragma once

#include <cstddef>
#include <cstdint>

namespace saccade::cpu {

/// Float32 and 8-bit kernels for resampling and quantisation on this processor.
struct SampleKernels {
  /// dst[i] = sum over t of weights[t] * src[offsets[t] + i], i < COUNT; ADD accumulates into DST.
  void (*combine)(const float* src, const std::int64_t* offsets, const float* weights, std::size_t taps, float* dst,
                  std::size_t count, bool add);
  /// dst = saturate(round_half_even(src / scale) + zero_point); NaN becomes the lowest value.
  void (*quantize_u8)(const float* src, float scale, float zero_point, std::uint8_t* dst, std::size_t count);
  void (*quantize_s8)(const float* src, float scale, float zero_point, std::int8_t* dst, std::size_t count);
  /// dst = (src - zero_point) * scale
  void (*dequantize_u8)(const std::uint8_t* src, float scale, float zero_point, float* dst, std::size_t count);
  void (*dequantize_s8)(const std::int8_t* src, float scale, float zero_point, float* dst, std::size_t count);
};

const SampleKernels& sample_kernels();

}  // namespace saccade::cpu
