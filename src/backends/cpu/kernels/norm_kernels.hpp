#pragma once

#include <cstddef>

namespace saccade::cpu {

/// Moments of a channel's elements about a number near their mean: SUM of (x - shift) and SQUARES of it.
struct ShiftedSums {
  float* shift;
  float* sum;
  float* squares;
};

/// y = (x - center) * factor + offset, one of each a channel.
struct Normalizer {
  const float* center;
  const float* factor;
  const float* offset;
};

/// Float32 kernels of normalisations by moments. PIXELS x CHANNELS: a pixel's channels are neighbours. Every count is
/// at least 1.
struct NormKernels {
  /// The sums of every channel.
  void (*sum_pixels)(const float* src, std::size_t pixels, std::size_t channels, const ShiftedSums& sums);
  /// Those of one channel, whose COUNT elements are neighbours.
  void (*sum_run)(const float* src, std::size_t count, const ShiftedSums& sums);
  /// DST may be SRC.
  void (*normalize_pixels)(const float* src, float* dst, std::size_t pixels, std::size_t channels,
                           const Normalizer& normalizer);
  void (*normalize_run)(const float* src, float* dst, std::size_t count, const Normalizer& normalizer);
};

/// For this processor.
const NormKernels& norm_kernels();

}  // namespace saccade::cpu
