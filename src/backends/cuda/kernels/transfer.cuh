#pragma once

#include "launch.cuh"
#include "launch_sizes.hpp"
#include "memory_layouts.hpp"
#include "types.cuh"

// Zero-copy transfers between device memory and pinned host memory.

__device__ __forceinline__ int64 bytes_of(const Copy& copy) {
  if (copy.count == 0) return copy.bytes;
  const int64 there = *reinterpret_cast<const int32*>(copy.count) * copy.row_bytes;
  return there < 0 ? 0 : there < copy.bytes ? there : copy.bytes;
}

/// Entry blockIdx.y of LIST. The host writes the list before the graph is launched; the device reads it over the bus,
/// once per block.
__device__ __forceinline__ Copy read_copy(const Copy* list) {
  __shared__ uint64 words[kCopyWords];
  if (threadIdx.x < kCopyWords) words[threadIdx.x] = reinterpret_cast<const uint64*>(list + blockIdx.y)[threadIdx.x];
  __syncthreads();
  return {words[0], words[1], static_cast<int64>(words[2]), words[3], static_cast<int64>(words[4])};
}

__device__ __forceinline__ void transfer(const Copy* list) {
  const Copy copy = read_copy(list);
  pdl_wait_and_trigger();
  const int64 bytes = bytes_of(copy);
  const int64 thread = static_cast<int64>(blockIdx.x) * kTransferThreads + threadIdx.x;
  const int64 threads = static_cast<int64>(gridDim.x) * kTransferThreads;
  int64 done = 0;
  if (((copy.from | copy.to) & 15) == 0) {
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
  const uint8* from = reinterpret_cast<const uint8*>(copy.from);
  uint8* to = reinterpret_cast<uint8*>(copy.to);
  for (int64 i = done + thread; i < bytes; i += threads) to[i] = from[i];
}
