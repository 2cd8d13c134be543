#pragma once

#include <cstddef>
#include <cstdint>

namespace saccade::cpu {

/// Float32 kernels for masks on this processor. Products and sums are rounded one by one, as in the reference kernels.
struct MaskKernels {
  /// dst[i] = sum over k of weights[k] * src[k * stride + i], in the order of k, i < COUNT.
  void (*weigh)(const float* src, std::size_t stride, const float* weights, std::size_t terms, float* dst,
                std::size_t count);
  /// dst[i] = row[first[i]] * (1 - share[i]) + row[second[i]] * share[i], i < COUNT, a multiple of 64. False if an
  /// element that is read is NaN or positive infinity.
  bool (*sample)(const float* row, const std::int32_t* first, const std::int32_t* second, const float* share,
                 float* dst, std::size_t count);
  /// Bit i % 64 of BITS[i / 64]: upper[i] * (1 - share) + lower[i] * share > threshold, i < COUNT, a multiple of 64.
  void (*exceeding)(const float* upper, const float* lower, float share, float threshold, std::uint64_t* bits,
                    std::size_t count);
};

/// The kernels for this processor.
const MaskKernels& mask_kernels();

}  // namespace saccade::cpu
