#pragma once

#include "ptx.cuh"

// wgmma, the asynchronous warpgroup MMA of Hopper: D += A B by 4 consecutive warps, the first at a multiple of 4. A is
// 64 x K, B is K x N, both K-major in shared memory with 64 16-bit elements a row. All threads of the warpgroup issue
// it.
//
//   fence_operand(d);          // several accumulators in turn: pins each in its registers
//   wgmma_fence();             // D may have been written before
//   wgmma_ss<T, N>(d, a, b);   ...
//   wgmma_commit();            // commits a group
//   wgmma_wait<Pending>();     // at most PENDING groups are outstanding
//   fence_operand(d);          // D may be read
//
// wgmma_ss() reads A and B from shared memory. wgmma_rs<T, N>(d, a, b) takes A from registers, each warp's 16 rows as
// fragments of mma_m16n8k16() (ptx.cuh), and B MN-major (transposed): rows of 64 elements along N, K = 16 rows.
//
// Element 4 j + 2 i + e of a thread's accumulators is row 16 w + g + 8 i, column 8 j + 2 q + e, where w is the warp
// within its warpgroup, g = lane / 4 and q = lane % 4.

#ifndef SACCADE_EMULATED

/// Shared-memory matrix descriptor of K-major rows of 64 16-bit elements with the 128-byte swizzle: rows are 128 bytes
/// apart, row 0 is 1024-byte aligned, and 16-byte chunk C of row R is stored at chunk C ^ R % 8.
using SmemDescriptor = uint64;
__device__ __forceinline__ SmemDescriptor k_major_descriptor(const void* shared) {
  constexpr uint64 kEightRows = 1024 / 16;
  constexpr uint64 kSwizzle128 = 1;
  return (smem_address(shared) & 0x3FFFF) >> 4 | uint64{1} << 16 | kEightRows << 32 | kSwizzle128 << 62;
}
/// The descriptor BYTES further on: 32 per 16 elements of K, 128 per row for multiples of 8 rows.
__device__ __forceinline__ SmemDescriptor advance_descriptor(SmemDescriptor rows, int bytes) {
  return rows + bytes / 16;
}

/// Descriptor of the same rows as an MN-major operand, for wgmma_rs().
__device__ __forceinline__ SmemDescriptor mn_major_descriptor(const void* shared) {
  constexpr uint64 kEightRows = 1024 / 16;  // leading-dimension byte offset, unused by K-major operands
  return (k_major_descriptor(shared) & ~(uint64{0xFFFF} << 16)) | kEightRows << 16;
}

/// Makes this thread's writes to shared memory, and those it has waited for, visible to the async proxy.
__device__ __forceinline__ void fence_proxy_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ __forceinline__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int Pending>
__device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}
/// Keeps the compiler from moving accesses to accumulators across wgmma_fence() and wgmma_wait().
template <int Count>
__device__ __forceinline__ void fence_operand(float (&d)[Count]) {
#pragma unroll
  for (int i = 0; i < Count; ++i) asm volatile("" : "+f"(d[i])::"memory");
}

// The specialisations are in the source of the kernel that uses them (plans/wgmma_source.hpp).
template <typename T, int N>
__device__ __forceinline__ void wgmma_ss(float (&d)[N / 2], SmemDescriptor a, SmemDescriptor b);
template <typename T, int N>
__device__ __forceinline__ void wgmma_rs(float (&d)[N / 2], const uint32 (&a)[4], SmemDescriptor b);

#else
#include "warpgroup_emulated.hpp"
#endif
