// Vector functions of the kernels. Highway includes the file once per target, so the include guard toggles.
#if defined(SACCADE_CPU_VECTOR_MATH_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef SACCADE_CPU_VECTOR_MATH_INL_HPP
#undef SACCADE_CPU_VECTOR_MATH_INL_HPP
#else
#define SACCADE_CPU_VECTOR_MATH_INL_HPP
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <cmath>
#include <cstring>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace saccade::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;
using Float = hn::Vec<FloatTag>;

/// Loads COUNT lanes from P and zeros the others; reads no byte past them.
template <class D>
HWY_INLINE hn::Vec<D> load_tail(D d, const float* p, std::size_t count) {
#if HWY_TARGET <= HWY_AVX2
  return hn::MaskedLoad(hn::FirstN(d, count), d, p);
#else
  HWY_ALIGN float lanes[HWY_MAX_BYTES / sizeof(float)] = {};
  std::memcpy(lanes, p, count * sizeof(float));
  return hn::Load(d, lanes);
#endif
}

/// Writes the first COUNT lanes to P and nothing past them.
template <class D>
HWY_INLINE void store_tail(D d, hn::Vec<D> v, float* p, std::size_t count) {
#if HWY_TARGET <= HWY_AVX2
  hn::BlendedStore(v, hn::FirstN(d, count), d, p);
#else
  HWY_ALIGN float lanes[HWY_MAX_BYTES / sizeof(float)];
  hn::Store(v, d, lanes);
  std::memcpy(p, lanes, count * sizeof(float));
#endif
}

/// A polynomial by Horner's rule, the highest coefficient first.
template <std::size_t kCount>
HWY_INLINE Float polynomial(FloatTag d, Float x, const float (&coefficients)[kCount]) {
  Float sum = hn::Set(d, coefficients[0]);
  for (std::size_t i = 1; i < kCount; ++i) sum = hn::MulAdd(sum, x, hn::Set(d, coefficients[i]));
  return sum;
}

// x86's minimum and maximum return the second operand if one is NaN. The operand that may be NaN is therefore second.

/// The maximum of two; NaN if one is.
HWY_INLINE Float greater(Float x, Float y) { return hn::IfThenElse(hn::IsNaN(x), x, hn::Max(x, y)); }
/// The minimum of two; NaN if one is.
HWY_INLINE Float lesser(Float x, Float y) { return hn::IfThenElse(hn::IsNaN(x), x, hn::Min(x, y)); }

/// MANTISSA * 2^POWER for a whole POWER of -150 to 128.
HWY_INLINE Float scale(FloatTag d, Float mantissa, Float power) {
#if HWY_TARGET <= HWY_AVX3
  return Float{_mm512_scalef_ps(mantissa.raw, power.raw)};
#else
  return hn::impl::ExpImpl<float>().LoadExpShortRange(d, mantissa,
                                                      hn::ConvertTo(hn::Rebind<std::int32_t, FloatTag>(), power));
#endif
}

/// e^x; infinity above 88.73, 0 below -104, NaN stays NaN. Highway's polynomial and reduction, of which its own
/// function makes 0 of NaN.
HWY_INLINE Float exp(FloatTag d, Float x) {
  // Adding it rounds a float below 2^22 to an integer.
  const Float rounder = hn::Set(d, 12582912.0F);
  x = hn::Min(hn::Set(d, 89.0F), hn::Max(hn::Set(d, -104.0F), x));
  const Float power = hn::Sub(hn::MulAdd(x, hn::Set(d, 1.442695041F), rounder), rounder);
  Float rest = hn::MulAdd(power, hn::Set(d, -0.693145751953125F), x);
  rest = hn::MulAdd(power, hn::Set(d, -1.428606765330187045e-6F), rest);
  const Float mantissa = hn::Add(hn::impl::ExpImpl<float>().ExpPoly(d, rest), hn::Set(d, 1.0F));
  return scale(d, mantissa, power);
}

HWY_INLINE Float sigmoid(FloatTag d, Float x) {
  const Float one = hn::Set(d, 1.0F);
  return hn::Div(one, hn::Add(one, exp(d, hn::Neg(x))));
}

/// x / (1 + e^-x)
HWY_INLINE Float silu(FloatTag d, Float x) {
  const Float one = hn::Set(d, 1.0F);
#if HWY_TARGET <= HWY_AVX3
  // A division takes as long as the rest. One step of Newton's doubles the 14 bits of the approximation; its operand is
  // finite, so that the reciprocal of infinity stays 0.
  const Float divisor = hn::Add(one, exp(d, hn::Neg(x)));
  const Float reciprocal{_mm512_rcp14_ps(divisor.raw)};
  const Float error = hn::NegMulAdd(hn::Min(hn::Set(d, 0x1p126F), divisor), reciprocal, one);
  return hn::Mul(x, hn::MulAdd(reciprocal, error, reciprocal));
#else
  return hn::Div(x, hn::Add(one, exp(d, hn::Neg(x))));
#endif
}

HWY_INLINE Float tanh(FloatTag d, Float x) {
  // Beyond 10 the result is exactly 1.
  const Float bounded = hn::Max(hn::Set(d, -10.0F), hn::Min(hn::Set(d, 10.0F), x));
  return hn::Tanh(d, bounded);
}

HWY_INLINE Float log(FloatTag d, Float x) {
  const Float zero = hn::Zero(d);
  const Float infinity = hn::Set(d, std::numeric_limits<float>::infinity());
  Float y = hn::Log(d, x);
  y = hn::IfThenElse(hn::Eq(x, infinity), infinity, y);
  y = hn::IfThenElse(hn::Eq(x, zero), hn::Neg(infinity), y);
  const Float nan = hn::Set(d, std::numeric_limits<float>::quiet_NaN());
  return hn::IfThenElse(hn::Ge(x, zero), y, nan);
}

/// FUNCTION per lane, for rare arguments outside the domain of a vector function.
template <typename Function>
HWY_INLINE Float lane_by_lane(FloatTag d, Float x, const Function& function) {
  HWY_ALIGN float lanes[HWY_MAX_BYTES / sizeof(float)];
  hn::Store(x, d, lanes);
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) lanes[i] = function(lanes[i]);
  return hn::Load(d, lanes);
}

/// Whether Highway's sine and cosine are accurate for all lanes; they are not above 39000.
HWY_INLINE bool within_period(FloatTag d, Float x) { return hn::AllTrue(d, hn::Le(hn::Abs(x), hn::Set(d, 39000.0F))); }

HWY_INLINE Float sin(FloatTag d, Float x) {
  return within_period(d, x) ? hn::Sin(d, x) : lane_by_lane(d, x, [](float lane) { return std::sin(lane); });
}

HWY_INLINE Float cos(FloatTag d, Float x) {
  return within_period(d, x) ? hn::Cos(d, x) : lane_by_lane(d, x, [](float lane) { return std::cos(lane); });
}

/// x^exponent = e^(exponent log|x|), for an exponent other than 0. SIGN is what a negative x's power is multiplied by:
/// 1 or -1 where the exponent is even or odd, NaN where it is no integer. As in C, an odd power keeps the sign of a
/// zero, and one that is no integer takes -infinity for infinity.
HWY_INLINE Float power(FloatTag d, Float x, Float exponent, Float sign) {
  const Float magnitude = exp(d, hn::Mul(exponent, log(d, hn::Abs(x))));
  const Float whole = hn::IfThenElse(hn::Lt(sign, hn::Zero(d)), hn::CopySign(magnitude, x), magnitude);
  const auto negative = hn::And(hn::Lt(x, hn::Zero(d)), hn::IsFinite(x));
  return hn::IfThenElse(hn::And(negative, hn::IsNaN(sign)), sign, whole);
}

/// The error function. Below 1 an odd polynomial; above it 1 - e^p(x), where p is fitted to log(erfc) on [1, 4] and
/// erfc's error counts for at most a sixth. Coefficients: least squares at Chebyshev nodes; error below 2e-7.
HWY_INLINE Float erf(FloatTag d, Float x) {
  static constexpr float kSmall[] = {7.88249745e-05F, -0.000801885501F, 0.00518931216F, -0.0268543288F,
                                     0.112835974F,    -0.37612626F,     1.12837911F};
  static constexpr float kLarge[] = {1.6140616e-06F, -4.55906229e-05F, 0.000592769531F, -0.00474022236F, 0.0263647176F,
                                     -0.109978244F,  -0.631937087F,    -1.13016665F,    0.00030321299F};
  const Float one = hn::Set(d, 1.0F);
  const Float magnitude = hn::Abs(x);
  const Float low = hn::Mul(x, polynomial(d, hn::Mul(x, x), kSmall));
  const Float bounded = hn::Min(hn::Set(d, 4.0F), magnitude);
  const Float high = hn::Sub(one, hn::Exp(d, polynomial(d, bounded, kLarge)));
  return hn::IfThenElse(hn::Ge(magnitude, one), hn::CopySign(high, x), low);
}

}  // namespace HWY_NAMESPACE
}  // namespace saccade::cpu
HWY_AFTER_NAMESPACE();

#endif
