#pragma once

#include "types.cuh"

// The instructions that CUDA C++ has no name for. Each is a function of its own, so that they can be emulated.

/// Whether the functions about barriers, bulk copies and clusters may be called: from Hopper on. Where not, kernels
/// copy by cp_async_16 and form no clusters.
#if __CUDA_ARCH__ >= 900
constexpr bool kHasBulkCopies = true;
#else
constexpr bool kHasBulkCopies = false;
#endif

#ifndef SACCADE_EMULATED

/// Copies 16 bytes to shared memory in the background; zeros where VALID is false. Both addresses are multiples of 16.
__device__ __forceinline__ void cp_async_16(void* shared, const void* global, bool valid) {
  const uint32 to = static_cast<uint32>(__cvta_generic_to_shared(shared));
  const int bytes = valid ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(global), "r"(bytes) : "memory");
}
/// The same of 4 bytes.
__device__ __forceinline__ void cp_async_4(void* shared, const void* global, bool valid) {
  const uint32 to = static_cast<uint32>(__cvta_generic_to_shared(shared));
  const int bytes = valid ? 4 : 0;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(global), "r"(bytes) : "memory");
}
/// Closes a group of the copies that this thread began.
__device__ __forceinline__ void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
/// Waits until all but the newest PENDING groups of this thread have arrived.
template <int Pending>
__device__ __forceinline__ void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
}

/// Four 8x8 matrices of 16-bit elements from shared memory: lane 8 i + r gives the address of row r of matrix i (16
/// bytes, aligned); lane l gets elements 2 (l % 4) and 2 (l % 4) + 1 of row l / 4 of each.
__device__ __forceinline__ void ldmatrix_x4(uint32 (&matrix)[4], const void* shared_row) {
  const uint32 from = static_cast<uint32>(__cvta_generic_to_shared(shared_row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(matrix[0]), "=r"(matrix[1]), "=r"(matrix[2]), "=r"(matrix[3])
               : "r"(from)
               : "memory");
}
/// The same, each matrix transposed.
__device__ __forceinline__ void ldmatrix_x4_trans(uint32 (&matrix)[4], const void* shared_row) {
  const uint32 from = static_cast<uint32>(__cvta_generic_to_shared(shared_row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(matrix[0]), "=r"(matrix[1]), "=r"(matrix[2]), "=r"(matrix[3])
               : "r"(from)
               : "memory");
}

/// D += A B on a warp: A 16x16 (row-major fragments), B 16x8 (column fragments), D 16x8 in float32; the fragments are
/// PTX's of mma.m16n8k16. T is float16 or bfloat16.
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

/// D += A B on a warp, in integers: A 16x32 of BYTE (int8 or uint8), B 32x8 of int8, D 16x8; the fragments are PTX's of
/// mma.m16n8k32, which lie as those of halves do, two bytes in a half's place.
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

/// D += A B on a warp in tf32: A 16x8, B 8x8, D 16x8; the fragments are PTX's of mma.m16n8k8.
__device__ __forceinline__ void mma_m16n8k8_tf32(float (&d)[4], const uint32 (&a)[4], const uint32 (&b)[2]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
/// X rounded to tf32, to the nearest, as bits of a float32.
__device__ __forceinline__ uint32 to_tf32(float x) {
  uint32 bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return bits;
}

/// Two numbers rounded to T, LOW in the lower half.
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
/// 2 to the power of X, wrong by a few units of a float32's last place; 0 where it is no normal number.
__device__ __forceinline__ float exp2_approx(float x) {
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
  return power;
}

__device__ __forceinline__ uint32 smem_address(const void* shared) {
  return static_cast<uint32>(__cvta_generic_to_shared(shared));
}

/// Prepares a barrier in shared memory for rounds of so many ARRIVALS, of which mbarrier_arrive_expect_tx() is one; fence_mbarrier_init()
/// and a barrier of the block's threads follow.
__device__ __forceinline__ void mbarrier_init(uint64* barrier, int arrivals = 1) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(smem_address(barrier)), "r"(arrivals) : "memory");
}
/// Makes prepared barriers seen by bulk copies and by the cluster.
__device__ __forceinline__ void fence_mbarrier_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
/// Begins a round of BARRIER that ends once BYTES have been written to this block's shared memory in its name.
__device__ __forceinline__ void mbarrier_arrive_expect_tx(uint64* barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(smem_address(barrier)), "r"(bytes)
               : "memory");
}
/// Arrives at BARRIER.
__device__ __forceinline__ void mbarrier_arrive(uint64* barrier) {
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(smem_address(barrier)) : "memory");
}
/// Arrives at BARRIER once all copies that this thread has begun by cp_async_16() and its like have arrived.
__device__ __forceinline__ void cp_async_mbarrier_arrive(uint64* barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(smem_address(barrier)) : "memory");
}
/// Waits for the end of a round of BARRIER: rounds 0, 2, 4... have PARITY 0.
__device__ __forceinline__ void mbarrier_wait(uint64* barrier, int parity) {
  uint32 done = 0;
  while (done == 0)
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
                 : "=r"(done)
                 : "r"(smem_address(barrier)), "r"(parity)
                 : "memory");
}
/// Copies BYTES to shared memory in the background, in BARRIER's name. Addresses and length are multiples of 16.
__device__ __forceinline__ void cp_async_bulk(void* shared, const void* global, int bytes, uint64* barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   smem_address(shared)),
               "l"(global), "r"(bytes), "r"(smem_address(barrier))
               : "memory");
}

/// Fetches BYTES into the second-level cache in the background. Address and length are multiples of 16.
__device__ __forceinline__ void prefetch_bulk_l2(const void* global, int bytes) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(global), "r"(bytes) : "memory");
}

/// Stores 16 bytes where block PEER of the cluster has SHARED, in the name of its BARRIER.
__device__ __forceinline__ void st_async_dsmem(int peer, void* shared, float4 value, uint64* barrier) {
  uint32 to;
  uint32 told;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(smem_address(shared)), "r"(peer));
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(told) : "r"(smem_address(barrier)), "r"(peer));
  asm volatile(
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(to),
      "f"(value.x), "f"(value.y), "f"(value.z), "f"(value.w), "r"(told)
      : "memory");
}
/// Tells the cluster that this block has started and prepared its barriers; cluster_wait() waits until all have.
/// Every thread calls both.
__device__ __forceinline__ void cluster_arrive() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}
__device__ __forceinline__ void cluster_wait() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

#else
#include "ptx_emulated.hpp"
#endif
