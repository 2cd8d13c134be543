#pragma once

#include "launch.cuh"
#include "types.cuh"

// Copies between the device and pinned memory of the host, which the device reads and writes where it lies.

/// As transfer.hpp has it.
struct Copy {
  const uint8* from;
  uint8* to;
  int64 bytes;
  const int32* count;  ///< of rows that are there; null: all
  int64 row_bytes;
};

constexpr int32 kTransferThreads = 256;
// Loads that a thread has under way: a bus answers after a microsecond.
constexpr int32 kTransferLoads = 4;

__device__ __forceinline__ int64 bytes_of(const Copy& copy) {
  if (copy.count == nullptr) return copy.bytes;
  const int64 there = *copy.count * copy.row_bytes;
  return there < 0 ? 0 : there < copy.bytes ? there : copy.bytes;
}

/// Copy number blockIdx.y of LIST, which the host writes before the graph begins.
__device__ __forceinline__ void transfer(const Copy* list) {
  const Copy copy = list[blockIdx.y];
  begin_kernel();
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
