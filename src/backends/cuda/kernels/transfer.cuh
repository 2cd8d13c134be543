#pragma once

#include "launch.cuh"
#include "launch_sizes.hpp"
#include "types.cuh"

// Zero-copy transfers between device memory and pinned host memory.

/// One entry of a list, in the layout of transfer.hpp.
struct Copy {
  const uint8* from;
  uint8* to;
  int64 bytes;
  const int32* count;  ///< number of valid rows; null: all
  int64 row_bytes;
};

constexpr int32 kCopyWords = 5;
constexpr int32 kCopyPitch = 8;

__device__ __forceinline__ int64 bytes_of(const Copy& copy) {
  if (copy.count == nullptr) return copy.bytes;
  const int64 there = *copy.count * copy.row_bytes;
  return there < 0 ? 0 : there < copy.bytes ? there : copy.bytes;
}

/// Entry blockIdx.y of LIST. The host writes the list before the graph is launched; the device reads it over the bus,
/// once per block.
__device__ __forceinline__ Copy read_copy(const uint64* list) {
  __shared__ uint64 words[kCopyWords];
  if (threadIdx.x < kCopyWords) words[threadIdx.x] = list[blockIdx.y * kCopyPitch + threadIdx.x];
  __syncthreads();
  return {reinterpret_cast<const uint8*>(words[0]), reinterpret_cast<uint8*>(words[1]), static_cast<int64>(words[2]),
          reinterpret_cast<const int32*>(words[3]), static_cast<int64>(words[4])};
}

__device__ __forceinline__ void transfer(const uint64* list) {
  const Copy copy = read_copy(list);
  pdl_wait_and_trigger();
  const int64 bytes = bytes_of(copy);
  const int64 thread = static_cast<int64>(blockIdx.x) * kTransferThreads + threadIdx.x;
  const int64 threads = static_cast<int64>(gridDim.x) * kTransferThreads;
  int64 done = 0;
  if (((reinterpret_cast<uint64>(copy.from) | reinterpret_cast<uint64>(copy.to)) & 15) == 0) {
    const uint4* from = reinterpret_cast<const uint4*>(copy.from);
    uint4* to = reinterpret_cast<uint4*>(copy.to);
    const int64 words = bytes / 16;
    for (int64 first = thread; first < words; first += kTransferLoads * threads) {
      uint4 word[kTransferLoads];
#pragma unroll
      for (int32 k = 0; k < kTransferLoads; ++k)
        if (first + k * threads < words) word[k] = from[first + k * threads];
#pragma unroll
      for (int32 k = 0; k < kTransferLoads; ++k)
        if (first + k * threads < words) to[first + k * threads] = word[k];
    }
    done = words * 16;
  }
  for (int64 i = done + thread; i < bytes; i += threads) copy.to[i] = copy.from[i];
}
