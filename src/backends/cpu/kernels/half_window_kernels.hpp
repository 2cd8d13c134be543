#pragma once

#include <cstddef>
#include <cstdint>

namespace saccade::cpu {

/// What a tap of adjacent windows reads: the pixel of the first window, and elements from it to the next window's.
struct HalfTap {
  const std::uint16_t* pixel;
  std::size_t stride;
};

/// Adjacent windows over channels-last bfloat16 images, at most kColumns channels at a time.
struct HalfWindows {
  static constexpr std::size_t kColumns = 32;

  const HalfTap* taps;
  std::size_t tap_count;  ///< of a window, at least 1
  std::size_t start;      ///< the first of the windows; the taps are of window 0
  std::size_t windows;
  std::size_t first;                     ///< channel
  std::size_t channels;                  ///< 1 to kColumns
  bool whole;                            ///< kColumns elements can be read from FIRST on at each tap
  const float* weights = nullptr;        ///< of sums: tap_count x kColumns
  const std::uint16_t* pairs = nullptr;  ///< the same in bfloat16, in the order of half_pair_index()
  const float* initial = nullptr;        ///< of sums: kColumns
  float* out;                            ///< windows x kColumns, 64-byte aligned

  /// What TAP of the Wth of the windows reads from FIRST on.
  const std::uint16_t* pixel(std::size_t tap, std::size_t w) const {
    return taps[tap].pixel + (start + w) * taps[tap].stride + first;
  }
};

/// The place of the weight of TAP and COLUMN among HalfWindows::pairs: pairs of taps, their columns in the order in
/// which AVX-512 interleaves two vectors. An odd number of taps is padded by a weight of zero.
constexpr std::size_t half_pair_index(std::size_t tap, std::size_t column) {
  const std::size_t half = column / 4 % 2;
  const std::size_t word = half * 16 + column / 8 * 4 + column % 4;
  return tap / 2 * 2 * HalfWindows::kColumns + 2 * word + tap % 2;
}

struct HalfWindowKernels {
  /// out[w][c] = initial[c] + the sum over taps t of pixel(t, w)[c] * weights[t][c]. Denormal numbers may be taken
  /// as zero.
  void (*sum)(const HalfWindows& from);
  /// out[w][c] = the maximum over taps; a NaN is greater than all numbers.
  void (*max)(const HalfWindows& from);
  bool takes_pairs = false;  ///< sum() reads HalfWindows::pairs, not HalfWindows::weights
};

const HalfWindowKernels& half_window_kernels();

}  // namespace saccade::cpu
