#pragma once

#include "types.cuh"

// Block- and warp-wide primitives.

/// Block-wide exclusive prefix sum and total of VALUE, for a one-dimensional block of THREADS. Every thread calls it.
struct Prefix {
  int32 before, all;
};
template <int Threads>
__device__ __forceinline__ Prefix block_prefix(int32 value) {
  static_assert(Threads % 32 == 0 && Threads <= 1024, "whole warps");
  __shared__ int32 sums[Threads / 32];
  const int32 lane = threadIdx.x & 31;
  const int32 warp = threadIdx.x >> 5;
  int32 sum = value;
  for (int32 step = 1; step < 32; step *= 2) {
    const int32 other = __shfl_up_sync(0xFFFFFFFFu, sum, step);
    if (lane >= step) sum += other;
  }
  __syncthreads();  // the sums of a previous call have been read
  if (lane == 31) sums[warp] = sum;
  __syncthreads();
  Prefix prefix{sum - value, 0};
  for (int32 i = 0; i < Threads / 32; ++i) {
    if (i < warp) prefix.before += sums[i];
    prefix.all += sums[i];
  }
  return prefix;
}

/// Warp-wide argmax; ties go to the lowest index.
struct Best {
  float value;
  int32 place;
};
__device__ __forceinline__ Best best_of_warp(Best mine) {
  for (int32 step = 16; step > 0; step /= 2) {
    const float value = __shfl_xor_sync(0xFFFFFFFFu, mine.value, step);
    const int32 place = __shfl_xor_sync(0xFFFFFFFFu, mine.place, step);
    if (value > mine.value || (value == mine.value && place < mine.place)) mine = {value, place};
  }
  return mine;
}

__device__ __forceinline__ bool is_finite(float x) { return fabsf(x) < INFINITY; }
