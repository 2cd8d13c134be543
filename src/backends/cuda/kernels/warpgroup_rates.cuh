#pragma once

#include "rates.cuh"
#include "warpgroup.cuh"

constexpr int kRowElements = 64;
constexpr int kColumns = 256;
constexpr int kRowWords = (64 + kColumns) * kRowElements / 2;

/// Loops x one 64x256x64 wgmma per warpgroup, with operands in shared memory.
template <typename T, int Loops>
__device__ __forceinline__ void run_wgmma(uint32 (&rows)[kRowWords], float* to) {
  for (int i = threadIdx.x; i < kRowWords; i += blockDim.x) rows[i] = random_bits(i);
  fence_proxy_async();
  __syncthreads();
  const SmemDescriptor a = k_major_descriptor(rows);
  const SmemDescriptor b = k_major_descriptor(rows + 64 * kRowElements / 2);
  float acc[kColumns / 2] = {};
  fence_operand(acc);
  for (int loop = 0; loop < Loops; ++loop) {
    wgmma_fence();
#pragma unroll
    for (int step = 0; step < kRowElements / 16; ++step)
      wgmma_ss<T, kColumns>(acc, advance_descriptor(a, 32 * step), advance_descriptor(b, 32 * step));
    wgmma_commit();
  }
  wgmma_wait<0>();
  fence_operand(acc);
  float sum = 0;
  for (int i = 0; i < kColumns / 2; ++i) sum += acc[i];
  if (sum > kNever) to[0] = sum;
}
