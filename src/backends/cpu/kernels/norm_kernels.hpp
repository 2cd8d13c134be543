#pragma once

#include <cstddef>

namespace saccade::cpu {

/// Shifted moments of a channel: SUM of (x - shift) and SQUARES of it, with a shift near the mean.
struct ShiftedSums {
  float* shift;
  float* sum;
  float* squares;
};

/// y = (x - center) * factor + offset, with one of each per channel.
struct Normalizer {
  const float* center;
  const float* factor;
  const float* offset;
};

/// Float32 kernels for normalisation. PIXELS x CHANNELS: the channels of a pixel are contiguous. All counts are at
/// least 1.
struct NormKernels {
  /// Sums per channel.
  void (*sum_pixels)(const float* src, std::size_t pixels, std::size_t channels, const ShiftedSums& sums);
  /// Sums of one channel with COUNT contiguous elements.
  void (*sum_run)(const float* src, std::size_t count, const ShiftedSums& sums);
  /// DST may be SRC.
  void (*normalize_pixels)(const float* src, float* dst, std::size_t pixels, std::size_t channels,
                           const Normalizer& normalizer);
  void (*normalize_run)(const float* src, float* dst, std::size_t count, const Normalizer& normalizer);
};

/// The kernels for this processor.
const NormKernels& norm_kernels();

}  // namespace saccade::cpu
