#pragma once

#include "launch.cuh"
#include "memory_layouts.hpp"
#include "ptx.cuh"
#include "rounding.hpp"
#include "types.cuh"

// Shared by the tensor-core kernels (convolution.cuh, gemm.cuh): vectorised loads and stores, cp.async pipelines, and
// the layout of a warp's accumulators.

/// N elements that are loaded and stored as one vector.
template <typename T, int N>
struct alignas(N * sizeof(T) < 16 ? N * sizeof(T) : 16) Packed {
  T data[N];
};
/// Loads a vector; AT is aligned to its size.
template <int N, typename T>
__device__ __forceinline__ Packed<T, N> load_packed(const T* at) {
  return *reinterpret_cast<const Packed<T, N>*>(at);
}
template <typename T, int N>
__device__ __forceinline__ void store_packed(T* at, const float (&x)[N]) {
  Packed<T, N> packed;
#pragma unroll
  for (int i = 0; i < N; ++i) packed.data[i] = Narrow<T>::from(x[i]);
  constexpr int kMaxElements = 16 / sizeof(T);
  if constexpr (N <= kMaxElements) {
    *reinterpret_cast<Packed<T, N>*>(at) = packed;
  } else {
#pragma unroll
    for (int i = 0; i < N; i += kMaxElements)
      *reinterpret_cast<Packed<T, kMaxElements>*>(at + i) =
          *reinterpret_cast<Packed<T, kMaxElements>*>(packed.data + i);
  }
}

/// Two adjacent channels of 8-bit integers. A pair moves through shared memory and fragments like one 16-bit element.
template <typename T>
struct BytePair {
  using Byte = T;
  T data[2];
};

__device__ __forceinline__ float add_bias(float sum, float bias) { return sum + bias; }
__device__ __forceinline__ float add_bias(int32 sum, const ByteBias& bias) {
  return float(sum + bias.bias) * bias.factor;
}

/// Accumulator and bias types for tensors of T.
template <typename T>
struct AccumulatorTraits {
  using Accumulator = float;
  using Bias = float;
  static constexpr bool kBytes = false;
};
template <typename T>
struct AccumulatorTraits<BytePair<T>> {
  using Accumulator = int32;
  using Bias = ByteBias;
  static constexpr bool kBytes = true;
};

/// An empty epilogue. The struct that the host writes for a node's post-ops has the same members: load() fetches the
/// operands of N elements from OFFSET on, apply() transforms the accumulators.
struct NoPostOps {
  template <int N>
  struct Operands {};
  template <int N>
  __device__ __forceinline__ Operands<N> load(int) const {
    return {};
  }
  template <int N>
  __device__ __forceinline__ void apply(float (&)[N], const Operands<N>&) const {}
};

/// Waits until at most PENDING cp.async groups are outstanding, for a run-time PENDING that is uniform in the block.
template <int Most>
__device__ __forceinline__ void cp_async_wait_dynamic(int pending) {
  if constexpr (Most > 0) {
    if (pending >= Most) {
      cp_async_wait<Most>();
    } else {
      cp_async_wait_dynamic<Most - 1>(pending);
    }
  } else {
    cp_async_wait<0>();
  }
}

/// Copies N elements to shared memory, by cp.async where they are 4 bytes or more; zero-fills where not VALID.
template <int N, typename T>
__device__ __forceinline__ void copy_elements(T* shared, const T* global, bool valid) {
  if constexpr (N * sizeof(T) == 16) {
    cp_async_16(shared, global, valid);
  } else if constexpr (N * sizeof(T) == 4) {
    cp_async_4(shared, global, valid);
  } else {
    static_assert(N == 1, "unsupported size");
    *shared = valid ? *global : T{};
  }
}

/// A warp's accumulators over a tile of 16 M pixels (rows) by 8 N filters (columns), distributed over lanes as by
/// mma.m16n8k16: with g = lane / 4 and q = lane % 4, acc[m][n] holds rows 16 m + g (elements 0 and 1) and 16 m + g + 8
/// (2 and 3). Weights are packed so that a lane's columns of kGroup consecutive n are adjacent filters: kLane of them
/// from 8 kGroup (n / kGroup) + kLane q on. Accumulators are therefore stored as vectors straight from registers,
/// without a transpose through shared memory. An item is one such vector of every lane.
template <int M, int N>
struct WarpTile {
  static_assert(N % 2 == 0, "weights are packed in columns of 16");
  static constexpr int kGroup = N % 4 == 0 ? 4 : 2;
  static constexpr int kLane = 2 * kGroup;
  static constexpr int kGroups = N / kGroup;
  static constexpr int kItems = M * 2 * kGroups;

  static __device__ __forceinline__ int row(int item, int lane) {
    return item / (2 * kGroups) * 16 + item / kGroups % 2 * 8 + lane / 4;
  }
  static __device__ __forceinline__ int column(int item, int lane) {
    return item % kGroups * 8 * kGroup + lane % 4 * kLane;
  }
  /// Copies item ITEM, a compile-time constant after unrolling.
  template <typename Accumulator>
  static __device__ __forceinline__ void extract(Accumulator (&x)[kLane], const Accumulator (&acc)[M][N][4], int item) {
#pragma unroll
    for (int i = 0; i < kLane; ++i)
      x[i] = acc[item / (2 * kGroups)][item % kGroups * kGroup + i / 2][item / kGroups % 2 * 2 + i % 2];
  }
};
