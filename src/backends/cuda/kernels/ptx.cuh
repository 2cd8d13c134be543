#pragma once

#include "types.cuh"

// PTX instructions without a CUDA C++ intrinsic. Each is a function of its own, so that the emulator can replace it.

/// Whether mbarriers, cp.async.bulk and thread-block clusters are available: sm_90 and later. Older targets use
/// cp_async_16() and no clusters.
#if __CUDA_ARCH__ >= 900
constexpr bool kHasBulkCopies = true;
#else
constexpr bool kHasBulkCopies = false;
#endif

#ifndef SACCADE_EMULATED

/// cp.async of 16 bytes to shared memory; zero-fills where VALID is false. Both addresses are 16-byte aligned.
__device__ __forceinline__ void cp_async_16(void* shared, const void* global, bool valid) {
  const uint32 to = static_cast<uint32>(__cvta_generic_to_shared(shared));
  const int bytes = valid ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(global), "r"(bytes) : "memory");
}
/// cp.async of 4 bytes.
__device__ __forceinline__ void cp_async_4(void* shared, const void* global, bool valid) {
  const uint32 to = static_cast<uint32>(__cvta_generic_to_shared(shared));
  const int bytes = valid ? 4 : 0;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(global), "r"(bytes) : "memory");
}
/// Commits this thread's outstanding cp.async operations as one group.
__device__ __forceinline__ void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
/// Waits until at most PENDING of this thread's newest cp.async groups are outstanding.
template <int Pending>
__device__ __forceinline__ void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
}

/// ldmatrix.x4: four 8x8 matrices of 16-bit elements. Lane 8 i + r passes the 16-byte aligned address of row r of
/// matrix i. Lane l receives elements 2 (l % 4) and 2 (l % 4) + 1 of row l / 4 of each matrix.
__device__ __forceinline__ void ldmatrix_x4(uint32 (&matrix)[4], const void* shared_row) {
  const uint32 from = static_cast<uint32>(__cvta_generic_to_shared(shared_row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(matrix[0]), "=r"(matrix[1]), "=r"(matrix[2]), "=r"(matrix[3])
               : "r"(from)
               : "memory");
}
/// ldmatrix.x4.trans: each matrix is transposed.
__device__ __forceinline__ void ldmatrix_x4_trans(uint32 (&matrix)[4], const void* shared_row) {
  const uint32 from = static_cast<uint32>(__cvta_generic_to_shared(shared_row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(matrix[0]), "=r"(matrix[1]), "=r"(matrix[2]), "=r"(matrix[3])
               : "r"(from)
               : "memory");
}

/// Warp-level D += A B: A 16x16 row-major, B 16x8 column-major, D 16x8 in float32, in the fragment layouts of
/// mma.m16n8k16. T is float16 or bfloat16.
template <typename T>
__device__ __forceinline__ void mma_m16n8k16(float (&d)[4], const uint32 (&a)[4], const uint32 (&b)[2]);
template <>
__device__ __forceinline__ void mma_m16n8k16<float16>(float (&d)[4], const uint32 (&a)[4], const uint32 (&b)[2]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
template <>
__device__ __forceinline__ void mma_m16n8k16<bfloat16>(float (&d)[4], const uint32 (&a)[4], const uint32 (&b)[2]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// Warp-level integer D += A B: A 16x32 of BYTE (int8 or uint8), B 32x8 of int8, D 16x8 of int32, in the fragment
/// layouts of mma.m16n8k32. These match m16n8k16 with a pair of bytes in place of a 16-bit element.
template <typename Byte>
__device__ __forceinline__ void mma_m16n8k32(int32 (&d)[4], const uint32 (&a)[4], const uint32 (&b)[2]);
template <>
__device__ __forceinline__ void mma_m16n8k32<int8>(int32 (&d)[4], const uint32 (&a)[4], const uint32 (&b)[2]) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
template <>
__device__ __forceinline__ void mma_m16n8k32<uint8>(int32 (&d)[4], const uint32 (&a)[4], const uint32 (&b)[2]) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// Warp-level D += A B in tf32: A 16x8, B 8x8, D 16x8, in the fragment layouts of mma.m16n8k8.
__device__ __forceinline__ void mma_m16n8k8_tf32(float (&d)[4], const uint32 (&a)[4], const uint32 (&b)[2]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
/// X rounded to tf32, nearest with ties away from zero; a float32 bit pattern with 10 mantissa bits.
__device__ __forceinline__ uint32 to_tf32(float x) {
  uint32 bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return bits;
}

/// LOW and HIGH rounded to T and packed into 32 bits, LOW in the lower 16.
template <typename T>
__device__ __forceinline__ uint32 pack2(float low, float high);
template <>
__device__ __forceinline__ uint32 pack2<float16>(float low, float high) {
  uint32 pair;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}
template <>
__device__ __forceinline__ uint32 pack2<bfloat16>(float low, float high) {
  uint32 pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}
/// 2^X by ex2.approx.ftz: relative error of about 2^-22; subnormal results flush to 0.
__device__ __forceinline__ float exp2_approx(float x) {
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
  return power;
}

__device__ __forceinline__ uint32 smem_address(const void* shared) {
  return static_cast<uint32>(__cvta_generic_to_shared(shared));
}

/// Initialises an mbarrier for phases of ARRIVALS arrivals, of which mbarrier_arrive_expect_tx() is one. Follow with
/// fence_mbarrier_init() and __syncthreads().
__device__ __forceinline__ void mbarrier_init(uint64* barrier, int arrivals = 1) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(smem_address(barrier)), "r"(arrivals) : "memory");
}
/// Makes initialised mbarriers visible to the async proxy and to the cluster.
__device__ __forceinline__ void fence_mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
/// Arrives at BARRIER and adds BYTES to the transaction count of its current phase.
__device__ __forceinline__ void mbarrier_arrive_expect_tx(uint64* barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(smem_address(barrier)), "r"(bytes) : "memory");
}
/// Arrives at BARRIER.
__device__ __forceinline__ void mbarrier_arrive(uint64* barrier) {
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(smem_address(barrier)) : "memory");
}
/// Arrives at BARRIER when all prior cp.async operations of this thread have completed.
__device__ __forceinline__ void cp_async_mbarrier_arrive(uint64* barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(smem_address(barrier)) : "memory");
}
/// Waits for a phase of BARRIER to complete. Phases 0, 2, 4, ... have PARITY 0.
__device__ __forceinline__ void mbarrier_wait(uint64* barrier, int parity) {
  uint32 done = 0;
  while (done == 0)
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
                 : "=r"(done)
                 : "r"(smem_address(barrier)), "r"(parity)
                 : "memory");
}
/// cp.async.bulk of BYTES to shared memory, completing on BARRIER's transaction count. Addresses and size are multiples
/// of 16.
__device__ __forceinline__ void cp_async_bulk(void* shared, const void* global, int bytes, uint64* barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   smem_address(shared)),
               "l"(global), "r"(bytes), "r"(smem_address(barrier))
               : "memory");
}

/// Prefetches BYTES into L2. Address and size are multiples of 16.
__device__ __forceinline__ void prefetch_bulk_l2(const void* global, int bytes) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(global), "r"(bytes) : "memory");
}

/// st.async of 16 bytes to the distributed shared memory of block PEER, at the address of SHARED there, completing on
/// the transaction count of that block's BARRIER.
__device__ __forceinline__ void st_async_dsmem(int peer, void* shared, float4 value, uint64* barrier) {
  uint32 to;
  uint32 peer_barrier;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(smem_address(shared)), "r"(peer));
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(peer_barrier) : "r"(smem_address(barrier)), "r"(peer));
  asm volatile(
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(to),
      "f"(value.x), "f"(value.y), "f"(value.z), "f"(value.w), "r"(peer_barrier)
      : "memory");
}
/// barrier.cluster.arrive and .wait: after cluster_wait(), all blocks of the cluster have started and initialised their
/// mbarriers. Every thread calls both.
__device__ __forceinline__ void cluster_arrive() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}
__device__ __forceinline__ void cluster_wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }

#else
#include "ptx_emulated.hpp"
#endif
