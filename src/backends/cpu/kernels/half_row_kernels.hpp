#pragma once

#include <cstddef>
#include <cstdint>

namespace saccade::cpu {

/// Kernels of bfloat16 rows for this processor.
struct HalfRowKernels {
  /// The softmax of each of ROWS contiguous rows of COUNT elements, at most kLongestHalfRow.
  void (*softmax)(const std::uint16_t* src, std::uint16_t* dst, std::size_t rows, std::size_t count);
  /// dst = e^(scale * scores - shift), rounded; returns the sum before rounding. 0 below e^-87.
  float (*exponentials)(const float* scores, std::size_t count, float scale, float shift, std::uint16_t* dst);
  /// dst[c] = the sum over t < TAP_COUNT of weights[t] * taps[t][c], c < COUNT
  void (*blend)(const std::uint16_t* const* taps, const float* weights, std::size_t tap_count, std::uint16_t* dst,
                std::size_t count);
};
constexpr std::size_t kLongestHalfRow = 4096;

const HalfRowKernels& half_row_kernels();

}  // namespace saccade::cpu
