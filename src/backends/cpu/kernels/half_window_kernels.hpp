#pragma once

#include <cstddef>
#include <cstdint>

namespace saccade::cpu {

/// Windows over channels-last bfloat16 images, at most HalfStrip::kColumns channels at a time.
struct HalfWindows {
  static constexpr std::size_t kColumns = 32;

  const std::uint16_t* const* taps;  ///< by window and tap: the first channel of the pixel that it reads
  std::size_t tap_count;             ///< of a window, at least 1
  std::size_t windows;
  std::size_t first;     ///< channel
  std::size_t channels;  ///< 1 to kColumns
  bool whole;            ///< kColumns elements can be read from FIRST on at each tap
  const float* weights;  ///< tap_count x kColumns; unused by maxima
  const float* initial;  ///< kColumns; unused by maxima
  float* out;            ///< windows x kColumns, 64-byte aligned
};

struct HalfWindowKernels {
  /// out[w][c] = initial[c] + the sum over taps t of taps[w][t][first + c] * weights[t][c]
  void (*sum)(const HalfWindows& from);
  /// out[w][c] = the maximum over taps; a NaN is greater than all numbers.
  void (*max)(const HalfWindows& from);
};

const HalfWindowKernels& half_window_kernels();

}  // namespace saccade::cpu
