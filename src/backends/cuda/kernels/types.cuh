#pragma once

// Element types as tensors hold them, and their conversion to what arithmetic is done in. NVRTC alone has neither
// cuda_fp16.h nor math.h.

#ifndef INFINITY
#define INFINITY __uint_as_float(0x7F800000u)
#endif
#ifndef NAN
#define NAN __uint_as_float(0x7FC00000u)
#endif

using int8 = signed char;
using uint8 = unsigned char;
using int16 = short;
using uint16 = unsigned short;
using int32 = int;
using uint32 = unsigned int;
using int64 = long long;
using uint64 = unsigned long long;

/// IEEE 754 binary16 by its bits.
struct float16 {
  uint16 bits;
};
/// The upper half of a float32.
struct bfloat16 {
  uint16 bits;
};

#ifdef SACCADE_EMULATED
float widen(float16 x);
float widen(bfloat16 x);
float16 to_float16(float x);
bfloat16 to_bfloat16(float x);
#else
__device__ __forceinline__ float widen(float16 x) {
  float wide;
  asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(x.bits));
  return wide;
}
__device__ __forceinline__ float widen(bfloat16 x) { return __uint_as_float(static_cast<uint32>(x.bits) << 16); }
/// Rounds half to even; beyond the largest is infinity.
__device__ __forceinline__ float16 to_float16(float x) {
  float16 half;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half.bits) : "f"(x));
  return half;
}
__device__ __forceinline__ bfloat16 to_bfloat16(float x) {
  bfloat16 half;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(half.bits) : "f"(x));
  return half;
}
#endif

/// An element in the type that arithmetic is done in: halves in float, everything else as it is.
template <typename T>
__device__ __forceinline__ T widen(T x) {
  return x;
}

/// What was computed, as the tensor holds it.
template <typename T>
struct Narrow {
  template <typename From>
  static __device__ __forceinline__ T from(From x) {
    return static_cast<T>(x);
  }
};
template <>
struct Narrow<float16> {
  template <typename From>
  static __device__ __forceinline__ float16 from(From x) {
    return to_float16(static_cast<float>(x));
  }
};
template <>
struct Narrow<bfloat16> {
  template <typename From>
  static __device__ __forceinline__ bfloat16 from(From x) {
    return to_bfloat16(static_cast<float>(x));
  }
};

/// COUNT elements that lie one behind the other, from a multiple of their size on, or of 16 bytes where they are more.
template <typename T, int COUNT>
struct alignas(sizeof(T) * COUNT < 16 ? sizeof(T) * COUNT : 16) Run {
  T at[COUNT];
};
template <int COUNT, typename T>
__device__ __forceinline__ Run<T, COUNT> read_run(const T* from) {
  return *reinterpret_cast<const Run<T, COUNT>*>(from);
}
template <int COUNT, typename T>
__device__ __forceinline__ void write_run(T* to, const Run<T, COUNT>& run) {
  *reinterpret_cast<Run<T, COUNT>*>(to) = run;
}
