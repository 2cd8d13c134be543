#pragma once

#include "launch.cuh"
#include "ptx.cuh"

// What a GPU does at most, one kind of work a kernel. Nothing that they compute is of use; a store that never happens
// keeps it from being left out.

constexpr float kNever = 1e30f;

/// Another block's in each loop, so that nothing is found in a first-level cache.
__device__ __forceinline__ int64 thread_number(int loop) {
  return (blockIdx.x + 17u * static_cast<uint32>(loop)) % gridDim.x * static_cast<int64>(blockDim.x) + threadIdx.x;
}
__device__ __forceinline__ int64 thread_count() { return gridDim.x * static_cast<int64>(blockDim.x); }

/// COUNT times 16 bytes, Loops times over.
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

/// Numbers without a pattern, finite and below 2 whatever they are taken for: of zeros tensor cores draw less power.
__device__ __forceinline__ uint32 noise(uint32 i) { return i * 0x9E3779B9u & 0xBFFFBFFFu; }

// What the tensor cores make of a warp's fragments of one type: m16n8k16 of halves, m16n8k8 of float as tf32, m16n8k32 of
// bytes.
template <typename T>
struct Fragments {
  using Sum = float;
  static __device__ __forceinline__ void add(Sum (&sums)[4], const uint32 (&a)[4], const uint32 (&b)[2]) {
    mma_m16n8k16<T>(sums, a, b);
  }
};
template <>
struct Fragments<float> {
  using Sum = float;
  static __device__ __forceinline__ void add(Sum (&sums)[4], const uint32 (&a)[4], const uint32 (&b)[2]) {
    mma_m16n8k8_tf32(sums, a, b);
  }
};
template <>
struct Fragments<int8> {
  using Sum = int32;
  static __device__ __forceinline__ void add(Sum (&sums)[4], const uint32 (&a)[4], const uint32 (&b)[2]) {
    mma_m16n8k32<int8>(sums, a, b);
  }
};

/// Loops times 8 independent products of a warp.
template <typename T, int Loops>
__device__ __forceinline__ void multiply_fragments(float* to) {
  constexpr int kChains = 8;
  typename Fragments<T>::Sum sums[kChains][4] = {};
  for (int chain = 0; chain < kChains; ++chain) sums[chain][0] = chain;  // alike they would be one
  const uint32 a[4] = {noise(threadIdx.x), noise(threadIdx.x + 1), noise(threadIdx.x + 2), noise(threadIdx.x + 3)};
  const uint32 b[2] = {noise(threadIdx.x + 4), noise(threadIdx.x + 5)};
  for (int loop = 0; loop < Loops; ++loop)
#pragma unroll
    for (int chain = 0; chain < kChains; ++chain) Fragments<T>::add(sums[chain], a, b);
  float sum = 0;
  for (int chain = 0; chain < kChains; ++chain)
    for (int i = 0; i < 4; ++i) sum += static_cast<float>(sums[chain][i]);
  if (sum > kNever) to[0] = sum;
}

/// Loops times 16 independent multiply-adds of a thread.
template <int Loops>
__device__ __forceinline__ void multiply_floats(float* to) {
  constexpr int kChains = 16;
  float sums[kChains];
  for (int chain = 0; chain < kChains; ++chain) sums[chain] = static_cast<float>(chain);
  const float factor = 1.0f + 1e-9f * static_cast<float>(threadIdx.x);
  for (int loop = 0; loop < Loops; ++loop)
#pragma unroll
    for (int chain = 0; chain < kChains; ++chain) sums[chain] = sums[chain] * factor + 1e-9f;
  float sum = 0;
  for (int chain = 0; chain < kChains; ++chain) sum += sums[chain];
  if (sum > kNever) to[0] = sum;
}
