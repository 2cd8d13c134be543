#pragma once

#include <cstddef>

namespace saccade::cpu {

/// Float32 kernels of pools, for this processor. A NaN is above all numbers.
struct PoolKernels {
  /// dst[i] = the greatest of from[k][i], k < COUNT (at least 1), i < LENGTH. DST may be from[0].
  void (*greatest)(const float* const* from, std::size_t count, std::size_t length, float* dst);
};

const PoolKernels& pool_kernels();

}  // namespace saccade::cpu
