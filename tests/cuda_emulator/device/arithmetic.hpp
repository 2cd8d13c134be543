#pragma once

// Math functions by the host's library; fast-math intrinsics (__expf) are as exact as the others.
namespace {

#define SACCADE_FUNCTION(name)                                     \
  inline float name##f(float x) { return __builtin_##name##f(x); } \
  inline float name(float x) { return __builtin_##name##f(x); }    \
  inline double name(double x) { return __builtin_##name(x); }
SACCADE_FUNCTION(acos)
SACCADE_FUNCTION(acosh)
SACCADE_FUNCTION(asin)
SACCADE_FUNCTION(asinh)
SACCADE_FUNCTION(atan)
SACCADE_FUNCTION(atanh)
SACCADE_FUNCTION(cbrt)
SACCADE_FUNCTION(ceil)
SACCADE_FUNCTION(cos)
SACCADE_FUNCTION(cosh)
SACCADE_FUNCTION(erf)
SACCADE_FUNCTION(erfc)
SACCADE_FUNCTION(exp)
SACCADE_FUNCTION(exp2)
SACCADE_FUNCTION(expm1)
SACCADE_FUNCTION(fabs)
SACCADE_FUNCTION(floor)
SACCADE_FUNCTION(lgamma)
SACCADE_FUNCTION(log)
SACCADE_FUNCTION(log10)
SACCADE_FUNCTION(log1p)
SACCADE_FUNCTION(log2)
SACCADE_FUNCTION(nearbyint)
SACCADE_FUNCTION(rint)
SACCADE_FUNCTION(round)
SACCADE_FUNCTION(sin)
SACCADE_FUNCTION(sinh)
SACCADE_FUNCTION(sqrt)
SACCADE_FUNCTION(tan)
SACCADE_FUNCTION(tanh)
SACCADE_FUNCTION(tgamma)
SACCADE_FUNCTION(trunc)
#undef SACCADE_FUNCTION

#define SACCADE_FUNCTION(name)                                                 \
  inline float name##f(float x, float y) { return __builtin_##name##f(x, y); } \
  inline float name(float x, float y) { return __builtin_##name##f(x, y); }    \
  inline double name(double x, double y) { return __builtin_##name(x, y); }
SACCADE_FUNCTION(atan2)
SACCADE_FUNCTION(copysign)
SACCADE_FUNCTION(fdim)
SACCADE_FUNCTION(fmax)
SACCADE_FUNCTION(fmin)
SACCADE_FUNCTION(fmod)
SACCADE_FUNCTION(hypot)
SACCADE_FUNCTION(nextafter)
SACCADE_FUNCTION(pow)
SACCADE_FUNCTION(remainder)
#undef SACCADE_FUNCTION

inline float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
inline float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
inline double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
inline float ldexpf(float x, int power) { return __builtin_ldexpf(x, power); }
inline float frexpf(float x, int* power) { return __builtin_frexpf(x, power); }
inline float modff(float x, float* whole) { return __builtin_modff(x, whole); }
inline float rsqrtf(float x) { return 1.0F / __builtin_sqrtf(x); }
inline double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }
inline float exp10f(float x) { return __builtin_powf(10.0F, x); }
inline float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1.0F) : 0.0F; }
inline float normcdff(float x) { return 0.5F * __builtin_erfcf(-x * 0.70710678118654752F); }
inline void sincosf(float x, float* sine, float* cosine) { *sine = sinf(x), *cosine = cosf(x); }

// Macros in C, functions here: only NaN differs from itself.
template <typename T>
inline bool isnan(T x) {
  return x != x;
}
inline bool isinf(float x) { return __builtin_fabsf(x) == __builtin_inff(); }
inline bool isinf(double x) { return __builtin_fabs(x) == __builtin_inf(); }
template <typename T>
inline bool isfinite(T x) {
  return !isnan(x) && !isinf(x);
}
inline bool signbit(float x) { return __builtin_signbitf(x) != 0; }
inline bool signbit(double x) { return __builtin_signbit(x) != 0; }

inline int abs(int x) { return x < 0 ? static_cast<int>(0U - static_cast<unsigned>(x)) : x; }
inline long abs(long x) { return x < 0 ? static_cast<long>(0UL - static_cast<unsigned long>(x)) : x; }
inline long long abs(long long x) {
  return x < 0 ? static_cast<long long>(0ULL - static_cast<unsigned long long>(x)) : x;
}
inline long long llabs(long long x) { return abs(x); }
inline float abs(float x) { return __builtin_fabsf(x); }
inline double abs(double x) { return __builtin_fabs(x); }

// Mixed signedness converts to unsigned; for floats a NaN operand yields the other one.
#define SACCADE_EXTREMES(a, b, result)                                                                        \
  inline result min(a x, b y) {                                                                               \
    return static_cast<result>(x) < static_cast<result>(y) ? static_cast<result>(x) : static_cast<result>(y); \
  }                                                                                                           \
  inline result max(a x, b y) {                                                                               \
    return static_cast<result>(x) > static_cast<result>(y) ? static_cast<result>(x) : static_cast<result>(y); \
  }
SACCADE_EXTREMES(int, int, int)
SACCADE_EXTREMES(unsigned, unsigned, unsigned)
SACCADE_EXTREMES(int, unsigned, unsigned)
SACCADE_EXTREMES(unsigned, int, unsigned)
SACCADE_EXTREMES(long, long, long)
SACCADE_EXTREMES(unsigned long, unsigned long, unsigned long)
SACCADE_EXTREMES(long, unsigned long, unsigned long)
SACCADE_EXTREMES(unsigned long, long, unsigned long)
SACCADE_EXTREMES(long long, long long, long long)
SACCADE_EXTREMES(unsigned long long, unsigned long long, unsigned long long)
SACCADE_EXTREMES(long long, unsigned long long, unsigned long long)
SACCADE_EXTREMES(unsigned long long, long long, unsigned long long)
#undef SACCADE_EXTREMES
inline float min(float x, float y) { return __builtin_fminf(x, y); }
inline float max(float x, float y) { return __builtin_fmaxf(x, y); }
inline double min(double x, double y) { return __builtin_fmin(x, y); }
inline double max(double x, double y) { return __builtin_fmax(x, y); }
inline double min(float x, double y) { return __builtin_fmin(x, y); }
inline double max(float x, double y) { return __builtin_fmax(x, y); }
inline double min(double x, float y) { return __builtin_fmin(x, y); }
inline double max(double x, float y) { return __builtin_fmax(x, y); }

inline float __expf(float x) { return __builtin_expf(x); }
inline float __exp10f(float x) { return exp10f(x); }
inline float __logf(float x) { return __builtin_logf(x); }
inline float __log2f(float x) { return __builtin_log2f(x); }
inline float __log10f(float x) { return __builtin_log10f(x); }
inline float __sinf(float x) { return __builtin_sinf(x); }
inline float __cosf(float x) { return __builtin_cosf(x); }
inline float __tanf(float x) { return __builtin_tanf(x); }
inline float __tanhf(float x) { return __builtin_tanhf(x); }
inline float __powf(float x, float y) { return __builtin_powf(x, y); }
inline void __sincosf(float x, float* sine, float* cosine) { sincosf(x, sine, cosine); }
// 0 for divisors beyond 2^126, as on the device.
inline float __fdividef(float x, float y) {
  return __builtin_fabsf(y) > 0x1p126F && !isinf(y) && !isinf(x) ? 0.0F : x / y;
}
inline float __fadd_rn(float x, float y) { return x + y; }
inline float __fsub_rn(float x, float y) { return x - y; }
inline float __fmul_rn(float x, float y) { return x * y; }
inline float __fdiv_rn(float x, float y) { return x / y; }
inline float __frcp_rn(float x) { return 1.0F / x; }
inline float __fsqrt_rn(float x) { return __builtin_sqrtf(x); }
inline float __frsqrt_rn(float x) { return static_cast<float>(1.0 / __builtin_sqrt(x)); }
inline float __fmaf_rn(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
inline double __dadd_rn(double x, double y) { return x + y; }
inline double __dmul_rn(double x, double y) { return x * y; }
inline double __ddiv_rn(double x, double y) { return x / y; }
inline double __dsqrt_rn(double x) { return __builtin_sqrt(x); }
inline double __fma_rn(double x, double y, double z) { return __builtin_fma(x, y, z); }

}  // namespace
