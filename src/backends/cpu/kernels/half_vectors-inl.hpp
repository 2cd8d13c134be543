// Conversions of vectors of bfloat16, and functions that are accurate enough for it. Highway includes the file once per
// target, so the include guard toggles.
#if defined(SACCADE_CPU_HALF_VECTORS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef SACCADE_CPU_HALF_VECTORS_INL_HPP
#undef SACCADE_CPU_HALF_VECTORS_INL_HPP
#else
#define SACCADE_CPU_HALF_VECTORS_INL_HPP
#endif

#include <cstdint>

#include "cpu/kernels/vector_math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace saccade::cpu {
namespace HWY_NAMESPACE {

using WordTag = hn::RebindToUnsigned<FloatTag>;
using HalfTag = hn::Rebind<std::uint16_t, FloatTag>;

HWY_INLINE Float load_half(const std::uint16_t* src) {
  return hn::BitCast(FloatTag(), hn::ShiftLeft<16>(hn::PromoteTo(WordTag(), hn::LoadU(HalfTag(), src))));
}

/// The first COUNT lanes; the others are zero and not read.
HWY_INLINE Float load_half_tail(const std::uint16_t* src, std::size_t count) {
  HWY_ALIGN std::uint16_t lanes[HWY_MAX_BYTES / sizeof(float)] = {};
  std::memcpy(lanes, src, count * sizeof(std::uint16_t));
  return load_half(lanes);
}

/// Rounds half to even; NaN becomes a quiet NaN.
HWY_INLINE hn::Vec<HalfTag> to_half(Float v) {
  const WordTag d;
  const auto bits = hn::BitCast(d, v);
  const auto is_odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(d, 1));
  const auto rounded = hn::Add(bits, hn::Add(is_odd, hn::Set(d, 0x7FFFU)));
  const auto quiet = hn::Or(bits, hn::Set(d, 0x400000U));
  const auto chosen = hn::IfThenElse(hn::RebindMask(d, hn::IsNaN(v)), quiet, rounded);
  return hn::TruncateTo(HalfTag(), hn::ShiftRight<16>(chosen));
}

/// The same for results of arithmetic, whose NaN are quiet.
HWY_INLINE hn::Vec<HalfTag> quiet_to_half(Float v) {
  const WordTag d;
  const auto bits = hn::BitCast(d, v);
  const auto is_odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(d, 1));
  const auto rounded =
      hn::Add(bits, hn::IfThenElseZero(hn::RebindMask(d, hn::Eq(v, v)), hn::Add(is_odd, hn::Set(d, 0x7FFFU))));
  return hn::TruncateTo(HalfTag(), hn::ShiftRight<16>(rounded));
}

/// e^x with a relative error below 1e-4 from -87 to 87, and the value there beyond; NaN stays NaN. Coefficients: least
/// maximum of the relative error of 2^x on [-0.5, 0.5].
HWY_INLINE Float quick_exp(FloatTag d, Float x) {
  static constexpr float kCoefficients[] = {0.0551716346F, 0.24261112F, 0.693260992F, 0.999928074F};
  x = hn::Min(hn::Set(d, 87.0F), hn::Max(hn::Set(d, -87.0F), x));
  // The sum's last bits are the exponent rounded to an integer.
  const Float shift = hn::Set(d, 12582912.0F);  // 1.5 * 2^23
  const Float log2e = hn::Set(d, 1.442695041F);
  const Float shifted = hn::MulAdd(x, log2e, shift);
  const Float mantissa = polynomial(d, hn::MulSub(x, log2e, hn::Sub(shifted, shift)), kCoefficients);
  const WordTag words;
  // A NaN of any payload stays one.
  const auto exponent = hn::ShiftLeft<23>(hn::BitCast(words, shifted));
  const Float power = hn::BitCast(d, hn::Add(hn::BitCast(words, mantissa), exponent));
  return hn::IfThenElse(hn::IsNaN(x), x, power);
}

}  // namespace HWY_NAMESPACE
}  // namespace saccade::cpu
HWY_AFTER_NAMESPACE();

#endif
