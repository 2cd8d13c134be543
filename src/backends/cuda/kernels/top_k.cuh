#pragma once

#include "rows.cuh"

// The first K elements of each row in sorted order, one block per row. An element's key is its 32-bit order-preserving
// pattern followed by its index: 64 bits that are unique, so that ties go to the first and the result does not depend
// on thread order. Radix selection, eight bits per pass over the row, narrows to the K smallest keys, which are then
// sorted in shared memory. So rows may have any length, and K is limited by shared memory only.

/// Order-preserving: NaN is above all numbers; both zeros are equal.
__device__ __forceinline__ uint32 order_of(float x) {
  if (x != x) return 0xFFFFFFFFU;
  const uint32 bits = __float_as_uint(x == 0 ? 0.0f : x);
  return bits & 0x80000000U ? ~bits : bits | 0x80000000U;
}
__device__ __forceinline__ uint32 order_of(int32 x) { return uint32(x) ^ 0x80000000U; }
__device__ __forceinline__ uint32 order_of(uint32 x) { return x; }

/// Sorts COUNT keys in shared memory in ascending order; called by all threads of the block. A bitonic network that
/// always orders pairs upwards, so that comparisons beyond the end are no-ops.
template <int kThreads>
__device__ __forceinline__ void sort_shared(uint64* keys, int32 count) {
  const auto order = [&](int32 low, int32 high) {
    if (high >= count) return;
    const uint64 a = keys[low];
    const uint64 b = keys[high];
    if (a > b) {
      keys[low] = b;
      keys[high] = a;
    }
  };
  int32 pairs = 1;  // half of the next power of two
  while (2 * pairs < count) pairs *= 2;
  for (int32 size = 2; size / 2 < count; size *= 2) {
    for (int32 i = threadIdx.x; i < pairs; i += kThreads) {
      const int32 first = i / (size / 2) * size;
      const int32 within = i % (size / 2);
      order(first + within, first + size - 1 - within);
    }
    __syncthreads();
    for (int32 step = size / 4; step > 0; step /= 2) {
      for (int32 i = threadIdx.x; i < pairs; i += kThreads) {
        const int32 low = i / step * 2 * step + i % step;
        order(low, low + step);
      }
      __syncthreads();
    }
  }
}

/// A prefix of the keys such that exactly K keys are not above it: keys are masked, then compared.
struct KeyBound {
  uint64 mask;
  uint64 prefix;
};
template <int kThreads, int kLength, int kK, typename Key>
__device__ __forceinline__ KeyBound select_keys(int32* histogram, const Key& key) {
  KeyBound bound{0, 0};
  int32 wanted = kK;
  __shared__ int32 chosen[3];
  for (int shift = 56; shift >= 0; shift -= 8) {
    for (int32 i = threadIdx.x; i < 256; i += kThreads) histogram[i] = 0;
    __syncthreads();
    for (int32 i = threadIdx.x; i < kLength; i += kThreads) {
      const uint64 bits = key(i);
      if ((bits & bound.mask) == bound.prefix) atomicAdd(&histogram[int32(bits >> shift & 255)], 1);
    }
    __syncthreads();
    if (threadIdx.x < 32) {  // eight bins per lane
      int32 own = 0;
      for (int32 i = 0; i < 8; ++i) own += histogram[8 * threadIdx.x + i];
      int32 up_to = own;
      for (int lanes = 1; lanes < 32; lanes *= 2) {
        const int32 before = __shfl_up_sync(0xFFFFFFFFU, up_to, lanes);
        if (threadIdx.x >= lanes) up_to += before;
      }
      if (up_to - own < wanted && wanted <= up_to) {
        int32 below = up_to - own;
        int32 bin = 8 * threadIdx.x;
        while (below + histogram[bin] < wanted) below += histogram[bin++];
        chosen[0] = bin;
        chosen[1] = wanted - below;
        chosen[2] = histogram[bin];
      }
    }
    __syncthreads();
    bound.mask |= uint64(255) << shift;
    bound.prefix |= uint64(chosen[0]) << shift;
    wanted = chosen[1];
    const bool all = chosen[2] == wanted;
    __syncthreads();  // before CHOSEN is overwritten
    if (all) break;
  }
  return bound;
}

/// KEYS is shared memory for kK keys. LOAD(place) returns an element; STORE(row, i, index in the row, element) takes
/// the I-th of the result.
template <typename Rows, int kThreads, int kK, bool kLargest, typename Load, typename Store>
__device__ __forceinline__ void find_top(uint64* keys, const Load& load, const Store& store) {
  __shared__ int32 histogram[256];
  __shared__ int32 taken;
  const int32 row = blockIdx.x;
  const auto key = [&](int32 i) {
    const uint32 order = order_of(load(Rows::place(row, i)));
    return uint64(kLargest ? ~order : order) << 32 | uint32(i);
  };
  if constexpr (kK < Rows::kLength) {
    const KeyBound bound = select_keys<kThreads, Rows::kLength, kK>(histogram, key);
    if (threadIdx.x == 0) taken = 0;
    __syncthreads();
    for (int32 i = threadIdx.x; i < Rows::kLength; i += kThreads) {
      const uint64 bits = key(i);
      if ((bits & bound.mask) <= bound.prefix) keys[atomicAdd(&taken, 1)] = bits;
    }
  } else {
    for (int32 i = threadIdx.x; i < kK; i += kThreads) keys[i] = key(i);
  }
  __syncthreads();
  sort_shared<kThreads>(keys, kK);
  for (int32 i = threadIdx.x; i < kK; i += kThreads) {
    const int32 place = int32(keys[i] & 0xFFFFFFFFU);
    store(row, i, place, load(Rows::place(row, place)));
  }
}
