#pragma once

// Bit operations, conversions with explicit rounding, and memory functions. Conversions to integers saturate and map
// NaN to 0, as on the device; plain casts do so on the device only.
namespace {

namespace cpu {

template <typename To, typename From>
inline To bit_cast(From from) {
  static_assert(sizeof(To) == sizeof(From), "two types of one size");
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}
template <typename To, typename From>
inline To saturating(From x, To lowest, To highest) {
  if (x != x) return 0;
  if (x <= static_cast<From>(lowest)) return lowest;
  return x >= static_cast<From>(highest) ? highest : static_cast<To>(x);
}
constexpr int kIntMax = 0x7FFFFFFF;
constexpr long long kLongMax = 0x7FFFFFFFFFFFFFFF;

}  // namespace cpu

inline unsigned __float_as_uint(float x) { return cpu::bit_cast<unsigned>(x); }
inline int __float_as_int(float x) { return cpu::bit_cast<int>(x); }
inline float __uint_as_float(unsigned x) { return cpu::bit_cast<float>(x); }
inline float __int_as_float(int x) { return cpu::bit_cast<float>(x); }
inline long long __double_as_longlong(double x) { return cpu::bit_cast<long long>(x); }
inline double __longlong_as_double(long long x) { return cpu::bit_cast<double>(x); }

#define SACCADE_CONVERSIONS(suffix, rounded, rounded_double)                                                \
  inline int __float2int_##suffix(float x) {                                                                \
    return cpu::saturating<int>(rounded(x), -cpu::kIntMax - 1, cpu::kIntMax);                               \
  }                                                                                                         \
  inline unsigned __float2uint_##suffix(float x) { return cpu::saturating<unsigned>(rounded(x), 0U, ~0U); } \
  inline long long __float2ll_##suffix(float x) {                                                           \
    return cpu::saturating<long long>(rounded(x), -cpu::kLongMax - 1, cpu::kLongMax);                       \
  }                                                                                                         \
  inline unsigned long long __float2ull_##suffix(float x) {                                                 \
    return cpu::saturating<unsigned long long>(rounded(x), 0ULL, ~0ULL);                                    \
  }                                                                                                         \
  inline int __double2int_##suffix(double x) {                                                              \
    return cpu::saturating<int>(rounded_double(x), -cpu::kIntMax - 1, cpu::kIntMax);                        \
  }                                                                                                         \
  inline long long __double2ll_##suffix(double x) {                                                         \
    return cpu::saturating<long long>(rounded_double(x), -cpu::kLongMax - 1, cpu::kLongMax);                \
  }
SACCADE_CONVERSIONS(rn, __builtin_rintf, __builtin_rint)
SACCADE_CONVERSIONS(rz, __builtin_truncf, __builtin_trunc)
SACCADE_CONVERSIONS(rd, __builtin_floorf, __builtin_floor)
SACCADE_CONVERSIONS(ru, __builtin_ceilf, __builtin_ceil)
#undef SACCADE_CONVERSIONS
inline float __int2float_rn(int x) { return static_cast<float>(x); }
inline float __uint2float_rn(unsigned x) { return static_cast<float>(x); }
inline float __ll2float_rn(long long x) { return static_cast<float>(x); }
inline float __ull2float_rn(unsigned long long x) { return static_cast<float>(x); }
inline float __double2float_rn(double x) { return static_cast<float>(x); }
inline int lrintf(float x) { return __float2int_rn(x); }
inline long long llrintf(float x) { return __float2ll_rn(x); }

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
inline int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x)); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned __brev(unsigned x) {
  unsigned reversed = 0;
  for (int bit = 0; bit < 32; ++bit) reversed |= (x >> bit & 1U) << (31 - bit);
  return reversed;
}
/// Selects bytes of X (0 to 3) and Y (4 to 7); a selector's top bit replicates the byte's sign.
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selectors) {
  const unsigned long long both = static_cast<unsigned long long>(y) << 32 | x;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned selector = selectors >> 4 * i & 0xFU;
    unsigned byte = static_cast<unsigned>(both >> 8 * (selector & 7U)) & 0xFFU;
    if ((selector & 8U) != 0) byte = (byte & 0x80U) != 0 ? 0xFFU : 0;
    result |= byte << 8 * i;
  }
  return result;
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by) {
  return static_cast<unsigned>((static_cast<unsigned long long>(high) << 32 | low) << (by & 31U) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by) {
  return static_cast<unsigned>((static_cast<unsigned long long>(high) << 32 | low) >> (by & 31U));
}
inline int __mulhi(int x, int y) { return static_cast<int>(static_cast<long long>(x) * y >> 32); }
inline unsigned __umulhi(unsigned x, unsigned y) {
  return static_cast<unsigned>(static_cast<unsigned long long>(x) * y >> 32);
}
inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(x) * y >> 64);
}
/// C plus the dot product of four signed bytes.
inline int __dp4a(int a, int b, int c) {
  for (int i = 0; i < 4; ++i) c += static_cast<signed char>(a >> 8 * i) * static_cast<signed char>(b >> 8 * i);
  return c;
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  for (int i = 0; i < 4; ++i) c += (a >> 8 * i & 0xFFU) * (b >> 8 * i & 0xFFU);
  return c;
}

template <typename T>
inline T __ldg(const T* address) {
  return *address;
}
template <typename T>
inline T __ldcs(const T* address) {
  return *address;
}
template <typename T>
inline T __ldcg(const T* address) {
  return *address;
}
template <typename T>
inline void __stcs(T* address, T value) {
  *address = value;
}
template <typename T>
inline void __stcg(T* address, T value) {
  *address = value;
}
inline size_t __cvta_generic_to_shared(const void* address) { return cpu::bit_cast<size_t>(address); }
inline bool __isShared(const void* address) { return cpu::runtime.is_shared(address); }
inline void* memcpy(void* to, const void* from, size_t bytes) { return __builtin_memcpy(to, from, bytes); }
inline void* memset(void* to, int value, size_t bytes) { return __builtin_memset(to, value, bytes); }
template <typename... Arguments>
inline int printf(const char* format, Arguments... arguments) {
  return __builtin_printf(format, arguments...);
}

}  // namespace
