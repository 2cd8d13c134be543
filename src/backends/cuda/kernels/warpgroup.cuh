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

template <typename T, int N>
__device__ __forceinline__ void wgmma_ss(float (&d)[N / 2], SmemDescriptor a, SmemDescriptor b);

// wgmma names every accumulator register: four per 8 columns.
#define SACCADE_REGS_8 "%0,%1,%2,%3"
#define SACCADE_REGS_16 SACCADE_REGS_8 ",%4,%5,%6,%7"
#define SACCADE_REGS_24 SACCADE_REGS_16 ",%8,%9,%10,%11"
#define SACCADE_REGS_32 SACCADE_REGS_24 ",%12,%13,%14,%15"
#define SACCADE_REGS_40 SACCADE_REGS_32 ",%16,%17,%18,%19"
#define SACCADE_REGS_48 SACCADE_REGS_40 ",%20,%21,%22,%23"
#define SACCADE_REGS_56 SACCADE_REGS_48 ",%24,%25,%26,%27"
#define SACCADE_REGS_64 SACCADE_REGS_56 ",%28,%29,%30,%31"
#define SACCADE_REGS_72 SACCADE_REGS_64 ",%32,%33,%34,%35"
#define SACCADE_REGS_80 SACCADE_REGS_72 ",%36,%37,%38,%39"
#define SACCADE_REGS_88 SACCADE_REGS_80 ",%40,%41,%42,%43"
#define SACCADE_REGS_96 SACCADE_REGS_88 ",%44,%45,%46,%47"
#define SACCADE_REGS_104 SACCADE_REGS_96 ",%48,%49,%50,%51"
#define SACCADE_REGS_112 SACCADE_REGS_104 ",%52,%53,%54,%55"
#define SACCADE_REGS_120 SACCADE_REGS_112 ",%56,%57,%58,%59"
#define SACCADE_REGS_128 SACCADE_REGS_120 ",%60,%61,%62,%63"
#define SACCADE_REGS_136 SACCADE_REGS_128 ",%64,%65,%66,%67"
#define SACCADE_REGS_144 SACCADE_REGS_136 ",%68,%69,%70,%71"
#define SACCADE_REGS_152 SACCADE_REGS_144 ",%72,%73,%74,%75"
#define SACCADE_REGS_160 SACCADE_REGS_152 ",%76,%77,%78,%79"
#define SACCADE_REGS_168 SACCADE_REGS_160 ",%80,%81,%82,%83"
#define SACCADE_REGS_176 SACCADE_REGS_168 ",%84,%85,%86,%87"
#define SACCADE_REGS_184 SACCADE_REGS_176 ",%88,%89,%90,%91"
#define SACCADE_REGS_192 SACCADE_REGS_184 ",%92,%93,%94,%95"
#define SACCADE_REGS_200 SACCADE_REGS_192 ",%96,%97,%98,%99"
#define SACCADE_REGS_208 SACCADE_REGS_200 ",%100,%101,%102,%103"
#define SACCADE_REGS_216 SACCADE_REGS_208 ",%104,%105,%106,%107"
#define SACCADE_REGS_224 SACCADE_REGS_216 ",%108,%109,%110,%111"
#define SACCADE_REGS_232 SACCADE_REGS_224 ",%112,%113,%114,%115"
#define SACCADE_REGS_240 SACCADE_REGS_232 ",%116,%117,%118,%119"
#define SACCADE_REGS_248 SACCADE_REGS_240 ",%120,%121,%122,%123"
#define SACCADE_REGS_256 SACCADE_REGS_248 ",%124,%125,%126,%127"
#define SACCADE_ACC_4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define SACCADE_ACC_8 SACCADE_ACC_4(0)
#define SACCADE_ACC_16 SACCADE_ACC_8, SACCADE_ACC_4(4)
#define SACCADE_ACC_24 SACCADE_ACC_16, SACCADE_ACC_4(8)
#define SACCADE_ACC_32 SACCADE_ACC_24, SACCADE_ACC_4(12)
#define SACCADE_ACC_40 SACCADE_ACC_32, SACCADE_ACC_4(16)
#define SACCADE_ACC_48 SACCADE_ACC_40, SACCADE_ACC_4(20)
#define SACCADE_ACC_56 SACCADE_ACC_48, SACCADE_ACC_4(24)
#define SACCADE_ACC_64 SACCADE_ACC_56, SACCADE_ACC_4(28)
#define SACCADE_ACC_72 SACCADE_ACC_64, SACCADE_ACC_4(32)
#define SACCADE_ACC_80 SACCADE_ACC_72, SACCADE_ACC_4(36)
#define SACCADE_ACC_88 SACCADE_ACC_80, SACCADE_ACC_4(40)
#define SACCADE_ACC_96 SACCADE_ACC_88, SACCADE_ACC_4(44)
#define SACCADE_ACC_104 SACCADE_ACC_96, SACCADE_ACC_4(48)
#define SACCADE_ACC_112 SACCADE_ACC_104, SACCADE_ACC_4(52)
#define SACCADE_ACC_120 SACCADE_ACC_112, SACCADE_ACC_4(56)
#define SACCADE_ACC_128 SACCADE_ACC_120, SACCADE_ACC_4(60)
#define SACCADE_ACC_136 SACCADE_ACC_128, SACCADE_ACC_4(64)
#define SACCADE_ACC_144 SACCADE_ACC_136, SACCADE_ACC_4(68)
#define SACCADE_ACC_152 SACCADE_ACC_144, SACCADE_ACC_4(72)
#define SACCADE_ACC_160 SACCADE_ACC_152, SACCADE_ACC_4(76)
#define SACCADE_ACC_168 SACCADE_ACC_160, SACCADE_ACC_4(80)
#define SACCADE_ACC_176 SACCADE_ACC_168, SACCADE_ACC_4(84)
#define SACCADE_ACC_184 SACCADE_ACC_176, SACCADE_ACC_4(88)
#define SACCADE_ACC_192 SACCADE_ACC_184, SACCADE_ACC_4(92)
#define SACCADE_ACC_200 SACCADE_ACC_192, SACCADE_ACC_4(96)
#define SACCADE_ACC_208 SACCADE_ACC_200, SACCADE_ACC_4(100)
#define SACCADE_ACC_216 SACCADE_ACC_208, SACCADE_ACC_4(104)
#define SACCADE_ACC_224 SACCADE_ACC_216, SACCADE_ACC_4(108)
#define SACCADE_ACC_232 SACCADE_ACC_224, SACCADE_ACC_4(112)
#define SACCADE_ACC_240 SACCADE_ACC_232, SACCADE_ACC_4(116)
#define SACCADE_ACC_248 SACCADE_ACC_240, SACCADE_ACC_4(120)
#define SACCADE_ACC_256 SACCADE_ACC_248, SACCADE_ACC_4(124)
#define SACCADE_WGMMA(T, type, n, a_name, b_name)                                                        \
  template <>                                                                                            \
  __device__ __forceinline__ void wgmma_ss<T, n>(float(&d)[n / 2], SmemDescriptor a, SmemDescriptor b) { \
    asm volatile("wgmma.mma_async.sync.aligned.m64n" #n "k16.f32." type "." type " {" SACCADE_REGS_##n   \
                 "}, " a_name ", " b_name ", 1, 1, 1, 0, 0;"                                             \
                 : SACCADE_ACC_##n                                                                       \
                 : "l"(a), "l"(b));                                                                      \
  }
#define SACCADE_WGMMAS(n, a_name, b_name)          \
  SACCADE_WGMMA(float16, "f16", n, a_name, b_name) \
  SACCADE_WGMMA(bfloat16, "bf16", n, a_name, b_name)
SACCADE_WGMMAS(8, "%4", "%5")
SACCADE_WGMMAS(16, "%8", "%9")
SACCADE_WGMMAS(24, "%12", "%13")
SACCADE_WGMMAS(32, "%16", "%17")
SACCADE_WGMMAS(40, "%20", "%21")
SACCADE_WGMMAS(48, "%24", "%25")
SACCADE_WGMMAS(56, "%28", "%29")
SACCADE_WGMMAS(64, "%32", "%33")
SACCADE_WGMMAS(72, "%36", "%37")
SACCADE_WGMMAS(80, "%40", "%41")
SACCADE_WGMMAS(88, "%44", "%45")
SACCADE_WGMMAS(96, "%48", "%49")
SACCADE_WGMMAS(104, "%52", "%53")
SACCADE_WGMMAS(112, "%56", "%57")
SACCADE_WGMMAS(120, "%60", "%61")
SACCADE_WGMMAS(128, "%64", "%65")
SACCADE_WGMMAS(160, "%80", "%81")
SACCADE_WGMMAS(192, "%96", "%97")
SACCADE_WGMMAS(224, "%112", "%113")
SACCADE_WGMMAS(256, "%128", "%129")
#undef SACCADE_WGMMAS
#undef SACCADE_WGMMA

template <typename T, int N>
__device__ __forceinline__ void wgmma_rs(float (&d)[N / 2], const uint32 (&a)[4], SmemDescriptor b);
#define SACCADE_WGMMA(T, type, n, a_names, b_name)                                                          \
  template <>                                                                                               \
  __device__ __forceinline__ void wgmma_rs<T, n>(float(&d)[n / 2], const uint32(&a)[4], SmemDescriptor b) { \
    asm volatile("wgmma.mma_async.sync.aligned.m64n" #n "k16.f32." type "." type " {" SACCADE_REGS_##n      \
                 "}, {" a_names "}, " b_name ", 1, 1, 1, 1;"                                                \
                 : SACCADE_ACC_##n                                                                          \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));                                     \
  }
#define SACCADE_WGMMAS(n, a_names, b_name)          \
  SACCADE_WGMMA(float16, "f16", n, a_names, b_name) \
  SACCADE_WGMMA(bfloat16, "bf16", n, a_names, b_name)
SACCADE_WGMMAS(16, "%8,%9,%10,%11", "%12")
SACCADE_WGMMAS(32, "%16,%17,%18,%19", "%20")
SACCADE_WGMMAS(48, "%24,%25,%26,%27", "%28")
SACCADE_WGMMAS(64, "%32,%33,%34,%35", "%36")
#undef SACCADE_WGMMAS
#undef SACCADE_WGMMA

#else
#include "warpgroup_emulated.hpp"
#endif
