#pragma once

// Element types in memory and their conversion to compute types. NVRTC ships neither cuda_fp16.h nor math.h.

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
/// bfloat16: the upper 16 bits of a float32.
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
/// Round to nearest even; overflow becomes infinity.
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

/// An element in its compute type: half precision in float, everything else unchanged.
template <typename T>
__device__ __forceinline__ T widen(T x) {
  return x;
}

/// A computed value converted to its storage type.
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

/// COUNT contiguous elements, aligned to their total size or to 16 bytes, whichever is less.
template <typename T, int COUNT>
struct alignas(sizeof(T) * COUNT < 16 ? sizeof(T) * COUNT : 16) AlignedVector {
  T data[COUNT];
};
template <int COUNT, typename T>
__device__ __forceinline__ AlignedVector<T, COUNT> load_vector(const T* from) {
  return *reinterpret_cast<const AlignedVector<T, COUNT>*>(from);
}
template <int COUNT, typename T>
__device__ __forceinline__ void store_vector(T* to, const AlignedVector<T, COUNT>& vector) {
  *reinterpret_cast<AlignedVector<T, COUNT>*>(to) = vector;
}
