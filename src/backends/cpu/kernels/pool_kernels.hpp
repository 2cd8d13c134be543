#pragma once

#include <cstddef>

namespace saccade::cpu {

/// dst[i] = the greatest of from[k][i], k < COUNT (at least 1), i < LENGTH. DST may be from[0].
using Greatest = void (*)(const float* const* from, std::size_t count, std::size_t length, float* dst);

/// Float32 kernels of pools, for this processor.
struct PoolKernels {
  Greatest of_numbers;  ///< where a NaN is among them the processor notes it (FE_INVALID), and DST is worth nothing
  Greatest of_any = nullptr;  ///< a NaN is above all numbers
};

const PoolKernels& pool_kernels();

}  // namespace saccade::cpu
