#pragma once

#include <cstddef>

namespace saccade::cpu {

/// Adjacent windows of one row: the taps of the first, and the distance between windows in the input and the output.
struct PoolWindows {
  const float* const* taps;  ///< COUNT pointers, at least 1, to LENGTH floats each
  std::size_t count;
  std::size_t length;
  std::size_t windows = 1;
  std::size_t stride = 0;      ///< floats from a window's tap to the same tap of the next window
  std::size_t out_stride = 0;  ///< floats from a window's result to the next
};

/// dst[w * out_stride + i] = max over k of taps[k][w * stride + i]. With one window DST may be taps[0].
using WindowMax = void (*)(const PoolWindows& from, float* dst);

/// Float32 max pooling kernels for this processor.
struct PoolKernels {
  WindowMax ignore_nan;          ///< a NaN sets the floating-point status flag FE_INVALID, and DST is undefined
  WindowMax keep_nan = nullptr;  ///< a NaN is greater than all numbers
};

const PoolKernels& pool_kernels();

}  // namespace saccade::cpu
