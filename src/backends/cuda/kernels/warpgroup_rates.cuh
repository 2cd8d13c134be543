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
  show_tensor_cores();
  __syncthreads();
  const SharedRows a = shared_rows(rows);
  const SharedRows b = shared_rows(rows + 64 * kHalves / 2);
  float sums[kColumns / 2] = {};
  settle(sums);
  for (int loop = 0; loop < Loops; ++loop) {
    begin_products();
#pragma unroll
    for (int step = 0; step < kHalves / 16; ++step)
      multiply_add_warpgroup<T, kColumns>(sums, further(a, 32 * step), further(b, 32 * step));
    commit_products();
  }
  wait_products<0>();
  settle(sums);
  float sum = 0;
  for (int i = 0; i < kColumns / 2; ++i) sum += sums[i];
  if (sum > kNever) to[0] = sum;
}
