#pragma once

#include "launch.cuh"
#include "launch_sizes.hpp"
#include "ptx.cuh"

// Micro-benchmarks of peak rates. A store that never executes keeps the compiler from removing the work.

constexpr float kNever = 1e30f;

/// Another block's index in each loop, so that no access hits L1.
__device__ __forceinline__ int64 thread_number(int loop) {
  return (blockIdx.x + 17u * static_cast<uint32>(loop)) % gridDim.x * static_cast<int64>(blockDim.x) + threadIdx.x;
}
__device__ __forceinline__ int64 thread_count() { return gridDim.x * static_cast<int64>(blockDim.x); }

/// COUNT 16-byte vectors, Loops times.
template <int Loops, int64 Count>
__device__ __forceinline__ void read_memory(const float4* from, float4* to) {
  float4 sum{};
  for (int loop = 0; loop < Loops; ++loop)
#pragma unroll 4
    for (int64 i = thread_number(loop); i < Count; i += thread_count()) {
      const float4 x = from[i];
      sum.x += x.x;
      sum.y += x.y;
      sum.z += x.z;
      sum.w += x.w;
    }
  if (sum.x + sum.y + sum.z + sum.w > kNever) to[0] = sum;
}

template <int Loops, int64 Count>
__device__ __forceinline__ void write_memory(float4* to) {
  for (int loop = 0; loop < Loops; ++loop)
#pragma unroll 4
    for (int64 i = thread_number(loop); i < Count; i += thread_count())
      to[i] = float4{1, 2, 3, static_cast<float>(loop)};
}

template <int Loops, int64 Count>
__device__ __forceinline__ void copy_memory(const float4* from, float4* to) {
  for (int loop = 0; loop < Loops; ++loop)
#pragma unroll 4
    for (int64 i = thread_number(loop); i < Count; i += thread_count()) to[i] = from[i];
}

/// Pseudo-random bits that are finite and below 2 in every type: tensor cores draw less power on zeros.
__device__ __forceinline__ uint32 random_bits(uint32 i) { return i * 0x9E3779B9u & 0xBFFFBFFFu; }

// One MMA of a warp by type: m16n8k16 in half precision, m16n8k8 in tf32, m16n8k32 in int8.
template <typename T>
struct Fragments {
  using Accumulator = float;
  static __device__ __forceinline__ void add(Accumulator (&acc)[4], const uint32 (&a)[4], const uint32 (&b)[2]) {
    mma_m16n8k16<T>(acc, a, b);
  }
};
template <>
struct Fragments<float> {
  using Accumulator = float;
  static __device__ __forceinline__ void add(Accumulator (&acc)[4], const uint32 (&a)[4], const uint32 (&b)[2]) {
    mma_m16n8k8_tf32(acc, a, b);
  }
};
template <>
struct Fragments<int8> {
  using Accumulator = int32;
  static __device__ __forceinline__ void add(Accumulator (&acc)[4], const uint32 (&a)[4], const uint32 (&b)[2]) {
    mma_m16n8k32<int8>(acc, a, b);
  }
};

/// Loops x 8 independent MMAs per warp.
template <typename T, int Loops>
__device__ __forceinline__ void run_mma(float* to) {
  typename Fragments<T>::Accumulator acc[kMmaChains][4] = {};
  for (int chain = 0; chain < kMmaChains; ++chain) acc[chain][0] = chain;  // identical chains would be merged
  const uint32 a[4] = {random_bits(threadIdx.x), random_bits(threadIdx.x + 1), random_bits(threadIdx.x + 2),
                       random_bits(threadIdx.x + 3)};
  const uint32 b[2] = {random_bits(threadIdx.x + 4), random_bits(threadIdx.x + 5)};
  for (int loop = 0; loop < Loops; ++loop)
#pragma unroll
    for (int chain = 0; chain < kMmaChains; ++chain) Fragments<T>::add(acc[chain], a, b);
  float sum = 0;
  for (int chain = 0; chain < kMmaChains; ++chain)
    for (int i = 0; i < 4; ++i) sum += static_cast<float>(acc[chain][i]);
  if (sum > kNever) to[0] = sum;
}

/// Loops x 16 independent FMAs per thread.
template <int Loops>
__device__ __forceinline__ void run_fma(float* to) {
  float acc[kFmaChains];
  for (int chain = 0; chain < kFmaChains; ++chain) acc[chain] = static_cast<float>(chain);
  const float factor = 1.0f + 1e-9f * static_cast<float>(threadIdx.x);
  for (int loop = 0; loop < Loops; ++loop)
#pragma unroll
    for (int chain = 0; chain < kFmaChains; ++chain) acc[chain] = acc[chain] * factor + 1e-9f;
  float sum = 0;
  for (int chain = 0; chain < kFmaChains; ++chain) sum += acc[chain];
  if (sum > kNever) to[0] = sum;
}
