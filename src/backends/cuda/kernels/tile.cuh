#pragma once

#include "launch.cuh"
#include "ptx.cuh"
#include "types.cuh"

// What the matrix kernels (convolution.cuh, gemm.cuh) have in common: vectors of elements, rings of shared memory, and
// how a warp's sums lie in its lanes.

/// N elements that are loaded and stored together.
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
  constexpr int kMost = 16 / sizeof(T);
  if constexpr (N <= kMost) {
    *reinterpret_cast<Packed<T, N>*>(at) = packed;
  } else {
#pragma unroll
    for (int i = 0; i < N; i += kMost)
      *reinterpret_cast<Packed<T, kMost>*>(at + i) = *reinterpret_cast<Packed<T, kMost>*>(packed.data + i);
  }
}

/// Two neighbouring channels of 8-bit integers: they move through shared memory and into fragments as one half does.
template <typename T>
struct BytePair {
  using Byte = T;
  T data[2];
};

/// What becomes of a filter's sum: a bias is added; sums of bytes turn into a multiple of the output's scale.
struct ByteBias {
  int32 bias;  ///< of the integers, with what the input's zero point adds to all sums
  float factor;
};
__device__ __forceinline__ float with_bias(float sum, float bias) { return sum + bias; }
__device__ __forceinline__ float with_bias(int32 sum, const ByteBias& bias) {
  return float(sum + bias.bias) * bias.factor;
}

/// What tensors of T are summed in, and what is added to their sums.
template <typename T>
struct Summed {
  using Sum = float;
  using Bias = float;
  static constexpr bool kBytes = false;
};
template <typename T>
struct Summed<BytePair<T>> {
  using Sum = int32;
  using Bias = ByteBias;
  static constexpr bool kBytes = true;
};

/// Of what a kernel does to a sum before it is stored: nothing. What the host writes for a node's post-ops has the same
/// members: load() fetches the operands of N elements from OFFSET on, apply() works on them.
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

constexpr __device__ __forceinline__ int ceil_div(int a, int b) { return (a + b - 1) / b; }
constexpr __device__ __forceinline__ int round_up(int a, int b) { return ceil_div(a, b) * b; }
constexpr __device__ __forceinline__ int max_of(int a, int b) { return a > b ? a : b; }
constexpr __device__ __forceinline__ int min_of(int a, int b) { return a < b ? a : b; }

/// Waits until at most PENDING of this thread's groups of copies are under way; PENDING is the same in all threads.
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

/// Copies N elements to shared memory, in the background where they are 4 bytes or more; zeros where not VALID.
template <int N, typename T>
__device__ __forceinline__ void copy_elements(T* shared, const T* global, bool valid) {
  if constexpr (N * sizeof(T) == 16) {
    cp_async_16(shared, global, valid);
  } else if constexpr (N * sizeof(T) == 4) {
    cp_async_4(shared, global, valid);
  } else {
    static_assert(N == 1, "no copy of this size");
    *shared = valid ? *global : T{};
  }
}

/// The sums of a warp over a tile of 16 M pixels (rows) by 8 N filters (columns), spread over its lanes as mma.m16n8k16
/// does: with g = lane / 4 and q = lane % 4, sums[m][n] are of rows 16 m + g (0 and 1) and 16 m + g + 8 (2 and 3).
/// Weights are packed in such an order that a lane's columns of kGroup consecutive n lie side by side: kLane filters
/// from 8 kGroup (n / kGroup) + kLane q on. So sums leave in vectors, without a detour by shared memory. An item is
/// what leaves at once: a vector of every lane.
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
  /// Item number ITEM, which is a constant.
  template <typename Sum>
  static __device__ __forceinline__ void take(Sum (&x)[kLane], const Sum (&sums)[M][N][4], int item) {
#pragma unroll
    for (int i = 0; i < kLane; ++i)
      x[i] = sums[item / (2 * kGroups)][item % kGroups * kGroup + i / 2][item / kGroups % 2 * 2 + i % 2];
  }
};
