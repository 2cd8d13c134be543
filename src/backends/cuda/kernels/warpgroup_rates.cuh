#pragma once

#include "rates.cuh"
#include "warpgroup.cuh"

constexpr int kHalves = 64;
constexpr int kColumns = 256;
constexpr int kRowWords = (64 + kColumns) * kHalves / 2;

/// Loops times the product of 64 rows of 64 halves by 256 such rows, of each warpgroup, from ROWS in shared memory.
template <typename T, int Loops>
__device__ __forceinline__ void multiply_warpgroups(uint32 (&rows)[kRowWords], float* to) {
  for (int i = threadIdx.x; i < kRowWords; i += blockDim.x) rows[i] = noise(i);
  fence_proxy_async();
  __syncthreads();
  const SmemDescriptor a = k_major_descriptor(rows);
  const SmemDescriptor b = k_major_descriptor(rows + 64 * kHalves / 2);
  float sums[kColumns / 2] = {};
  fence_operand(sums);
  for (int loop = 0; loop < Loops; ++loop) {
    wgmma_fence();
#pragma unroll
    for (int step = 0; step < kHalves / 16; ++step)
      wgmma_ss<T, kColumns>(sums, advance_descriptor(a, 32 * step), advance_descriptor(b, 32 * step));
    wgmma_commit();
  }
  wgmma_wait<0>();
  fence_operand(sums);
  float sum = 0;
  for (int i = 0; i < kColumns / 2; ++i) sum += sums[i];
  if (sum > kNever) to[0] = sum;
}
