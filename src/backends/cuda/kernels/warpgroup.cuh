#pragma once

#include "ptx.cuh"

// The tensor cores' instructions of a warpgroup, on Hopper: D += A B on 4 consecutive warps, of which the first has a
// number that 4 divides, with A of 64 rows and B of N columns, both in shared memory, both by rows of 64 halves along
// the sum. They run in the background; all threads of the warpgroup issue them.
//
//   settle(d);                           // D is what it was made to be, where several take turns
//   begin_products();                    // D may have been written before
//   multiply_add_warpgroup<T, N>(d, a, b);   ...
//   commit_products();                   // closes a group
//   wait_products<Pending>();            // all but the newest PENDING groups are done
//   settle(d);                           // D may be read
//
// multiply_add_columns<T, N>(d, a, b) has A in registers, each warp's 16 rows as multiply_add()'s fragments (ptx.cuh),
// and B by columns: its rows of 64 halves, of which N are multiplied, lie along D's columns, and the sum runs over 16.
//
// Number 4 j + 2 i + e of a thread's share of D is row 16 w + g + 8 i, column 8 j + 2 q + e, with w the warp in its
// warpgroup, g = lane / 4 and q = lane % 4.

#ifndef SACCADE_EMULATED

/// Rows of 64 halves in shared memory, as the tensor cores are told of them: the first is at a multiple of 1024 bytes,
/// the others follow, and the 16 bytes number C of row R stand at place C ^ R % 8 of it.
using SharedRows = uint64;
__device__ __forceinline__ SharedRows shared_rows(const void* shared) {
  constexpr uint64 kEightRows = 1024 / 16;
  constexpr uint64 kSwizzle128 = 1;
  return (shared_address(shared) & 0x3FFFF) >> 4 | uint64{1} << 16 | kEightRows << 32 | kSwizzle128 << 62;
}
/// The same, BYTES further on: 32 for the next 16 halves of all rows, 128 times a multiple of 8 for other rows.
__device__ __forceinline__ SharedRows further(SharedRows rows, int bytes) { return rows + bytes / 16; }

/// The same rows as multiply_add_columns() takes them.
__device__ __forceinline__ SharedRows shared_columns(const void* shared) {
  constexpr uint64 kEightRows = 1024 / 16;  // in the place where rows alone have nothing
  return (shared_rows(shared) & ~(uint64{0xFFFF} << 16)) | kEightRows << 16;
}

/// Makes what this thread wrote to shared memory, or waited for, seen by the tensor cores.
__device__ __forceinline__ void show_tensor_cores() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ __forceinline__ void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void commit_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int Pending>
__device__ __forceinline__ void wait_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}
/// Keeps the compiler from writing sums behind begin_products(), and from reading them before wait_products().
template <int Count>
__device__ __forceinline__ void settle(float (&d)[Count]) {
#pragma unroll
  for (int i = 0; i < Count; ++i) asm volatile("" : "+f"(d[i])::"memory");
}

template <typename T, int N>
__device__ __forceinline__ void multiply_add_warpgroup(float (&d)[N / 2], SharedRows a, SharedRows b);

// An instruction names all its registers: four every 8 columns.
#define SACCADE_NAMES_8 "%0,%1,%2,%3"
#define SACCADE_NAMES_16 SACCADE_NAMES_8 ",%4,%5,%6,%7"
#define SACCADE_NAMES_24 SACCADE_NAMES_16 ",%8,%9,%10,%11"
#define SACCADE_NAMES_32 SACCADE_NAMES_24 ",%12,%13,%14,%15"
#define SACCADE_NAMES_40 SACCADE_NAMES_32 ",%16,%17,%18,%19"
#define SACCADE_NAMES_48 SACCADE_NAMES_40 ",%20,%21,%22,%23"
#define SACCADE_NAMES_56 SACCADE_NAMES_48 ",%24,%25,%26,%27"
#define SACCADE_NAMES_64 SACCADE_NAMES_56 ",%28,%29,%30,%31"
#define SACCADE_NAMES_72 SACCADE_NAMES_64 ",%32,%33,%34,%35"
#define SACCADE_NAMES_80 SACCADE_NAMES_72 ",%36,%37,%38,%39"
#define SACCADE_NAMES_88 SACCADE_NAMES_80 ",%40,%41,%42,%43"
#define SACCADE_NAMES_96 SACCADE_NAMES_88 ",%44,%45,%46,%47"
#define SACCADE_NAMES_104 SACCADE_NAMES_96 ",%48,%49,%50,%51"
#define SACCADE_NAMES_112 SACCADE_NAMES_104 ",%52,%53,%54,%55"
#define SACCADE_NAMES_120 SACCADE_NAMES_112 ",%56,%57,%58,%59"
#define SACCADE_NAMES_128 SACCADE_NAMES_120 ",%60,%61,%62,%63"
#define SACCADE_NAMES_136 SACCADE_NAMES_128 ",%64,%65,%66,%67"
#define SACCADE_NAMES_144 SACCADE_NAMES_136 ",%68,%69,%70,%71"
#define SACCADE_NAMES_152 SACCADE_NAMES_144 ",%72,%73,%74,%75"
#define SACCADE_NAMES_160 SACCADE_NAMES_152 ",%76,%77,%78,%79"
#define SACCADE_NAMES_168 SACCADE_NAMES_160 ",%80,%81,%82,%83"
#define SACCADE_NAMES_176 SACCADE_NAMES_168 ",%84,%85,%86,%87"
#define SACCADE_NAMES_184 SACCADE_NAMES_176 ",%88,%89,%90,%91"
#define SACCADE_NAMES_192 SACCADE_NAMES_184 ",%92,%93,%94,%95"
#define SACCADE_NAMES_200 SACCADE_NAMES_192 ",%96,%97,%98,%99"
#define SACCADE_NAMES_208 SACCADE_NAMES_200 ",%100,%101,%102,%103"
#define SACCADE_NAMES_216 SACCADE_NAMES_208 ",%104,%105,%106,%107"
#define SACCADE_NAMES_224 SACCADE_NAMES_216 ",%108,%109,%110,%111"
#define SACCADE_NAMES_232 SACCADE_NAMES_224 ",%112,%113,%114,%115"
#define SACCADE_NAMES_240 SACCADE_NAMES_232 ",%116,%117,%118,%119"
#define SACCADE_NAMES_248 SACCADE_NAMES_240 ",%120,%121,%122,%123"
#define SACCADE_NAMES_256 SACCADE_NAMES_248 ",%124,%125,%126,%127"
#define SACCADE_FOUR(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define SACCADE_SUMS_8 SACCADE_FOUR(0)
#define SACCADE_SUMS_16 SACCADE_SUMS_8, SACCADE_FOUR(4)
#define SACCADE_SUMS_24 SACCADE_SUMS_16, SACCADE_FOUR(8)
#define SACCADE_SUMS_32 SACCADE_SUMS_24, SACCADE_FOUR(12)
#define SACCADE_SUMS_40 SACCADE_SUMS_32, SACCADE_FOUR(16)
#define SACCADE_SUMS_48 SACCADE_SUMS_40, SACCADE_FOUR(20)
#define SACCADE_SUMS_56 SACCADE_SUMS_48, SACCADE_FOUR(24)
#define SACCADE_SUMS_64 SACCADE_SUMS_56, SACCADE_FOUR(28)
#define SACCADE_SUMS_72 SACCADE_SUMS_64, SACCADE_FOUR(32)
#define SACCADE_SUMS_80 SACCADE_SUMS_72, SACCADE_FOUR(36)
#define SACCADE_SUMS_88 SACCADE_SUMS_80, SACCADE_FOUR(40)
#define SACCADE_SUMS_96 SACCADE_SUMS_88, SACCADE_FOUR(44)
#define SACCADE_SUMS_104 SACCADE_SUMS_96, SACCADE_FOUR(48)
#define SACCADE_SUMS_112 SACCADE_SUMS_104, SACCADE_FOUR(52)
#define SACCADE_SUMS_120 SACCADE_SUMS_112, SACCADE_FOUR(56)
#define SACCADE_SUMS_128 SACCADE_SUMS_120, SACCADE_FOUR(60)
#define SACCADE_SUMS_136 SACCADE_SUMS_128, SACCADE_FOUR(64)
#define SACCADE_SUMS_144 SACCADE_SUMS_136, SACCADE_FOUR(68)
#define SACCADE_SUMS_152 SACCADE_SUMS_144, SACCADE_FOUR(72)
#define SACCADE_SUMS_160 SACCADE_SUMS_152, SACCADE_FOUR(76)
#define SACCADE_SUMS_168 SACCADE_SUMS_160, SACCADE_FOUR(80)
#define SACCADE_SUMS_176 SACCADE_SUMS_168, SACCADE_FOUR(84)
#define SACCADE_SUMS_184 SACCADE_SUMS_176, SACCADE_FOUR(88)
#define SACCADE_SUMS_192 SACCADE_SUMS_184, SACCADE_FOUR(92)
#define SACCADE_SUMS_200 SACCADE_SUMS_192, SACCADE_FOUR(96)
#define SACCADE_SUMS_208 SACCADE_SUMS_200, SACCADE_FOUR(100)
#define SACCADE_SUMS_216 SACCADE_SUMS_208, SACCADE_FOUR(104)
#define SACCADE_SUMS_224 SACCADE_SUMS_216, SACCADE_FOUR(108)
#define SACCADE_SUMS_232 SACCADE_SUMS_224, SACCADE_FOUR(112)
#define SACCADE_SUMS_240 SACCADE_SUMS_232, SACCADE_FOUR(116)
#define SACCADE_SUMS_248 SACCADE_SUMS_240, SACCADE_FOUR(120)
#define SACCADE_SUMS_256 SACCADE_SUMS_248, SACCADE_FOUR(124)
#define SACCADE_PRODUCT(T, type, n, a_name, b_name)                                                            \
  template <>                                                                                                  \
  __device__ __forceinline__ void multiply_add_warpgroup<T, n>(float(&d)[n / 2], SharedRows a, SharedRows b) { \
    asm volatile("wgmma.mma_async.sync.aligned.m64n" #n "k16.f32." type "." type " {" SACCADE_NAMES_##n        \
                 "}, " a_name ", " b_name ", 1, 1, 1, 0, 0;"                                                   \
                 : SACCADE_SUMS_##n                                                                            \
                 : "l"(a), "l"(b));                                                                            \
  }
#define SACCADE_PRODUCTS(n, a_name, b_name)          \
  SACCADE_PRODUCT(float16, "f16", n, a_name, b_name) \
  SACCADE_PRODUCT(bfloat16, "bf16", n, a_name, b_name)
SACCADE_PRODUCTS(8, "%4", "%5")
SACCADE_PRODUCTS(16, "%8", "%9")
SACCADE_PRODUCTS(24, "%12", "%13")
SACCADE_PRODUCTS(32, "%16", "%17")
SACCADE_PRODUCTS(40, "%20", "%21")
SACCADE_PRODUCTS(48, "%24", "%25")
SACCADE_PRODUCTS(56, "%28", "%29")
SACCADE_PRODUCTS(64, "%32", "%33")
SACCADE_PRODUCTS(72, "%36", "%37")
SACCADE_PRODUCTS(80, "%40", "%41")
SACCADE_PRODUCTS(88, "%44", "%45")
SACCADE_PRODUCTS(96, "%48", "%49")
SACCADE_PRODUCTS(104, "%52", "%53")
SACCADE_PRODUCTS(112, "%56", "%57")
SACCADE_PRODUCTS(120, "%60", "%61")
SACCADE_PRODUCTS(128, "%64", "%65")
SACCADE_PRODUCTS(160, "%80", "%81")
SACCADE_PRODUCTS(192, "%96", "%97")
SACCADE_PRODUCTS(224, "%112", "%113")
SACCADE_PRODUCTS(256, "%128", "%129")
#undef SACCADE_PRODUCTS
#undef SACCADE_PRODUCT

template <typename T, int N>
__device__ __forceinline__ void multiply_add_columns(float (&d)[N / 2], const uint32 (&a)[4], SharedRows b);
#define SACCADE_PRODUCT(T, type, n, a_names, b_name)                                                                  \
  template <>                                                                                                         \
  __device__ __forceinline__ void multiply_add_columns<T, n>(float(&d)[n / 2], const uint32(&a)[4], SharedRows b) {   \
    asm volatile("wgmma.mma_async.sync.aligned.m64n" #n "k16.f32." type "." type " {" SACCADE_NAMES_##n               \
                 "}, {" a_names "}, " b_name ", 1, 1, 1, 1;"                                                          \
                 : SACCADE_SUMS_##n                                                                                   \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));                                               \
  }
#define SACCADE_PRODUCTS(n, a_names, b_name)          \
  SACCADE_PRODUCT(float16, "f16", n, a_names, b_name) \
  SACCADE_PRODUCT(bfloat16, "bf16", n, a_names, b_name)
SACCADE_PRODUCTS(16, "%8,%9,%10,%11", "%12")
SACCADE_PRODUCTS(32, "%16,%17,%18,%19", "%20")
SACCADE_PRODUCTS(48, "%24,%25,%26,%27", "%28")
SACCADE_PRODUCTS(64, "%32,%33,%34,%35", "%36")
#undef SACCADE_PRODUCTS
#undef SACCADE_PRODUCT

#else
#include "warpgroup_emulated.hpp"
#endif
