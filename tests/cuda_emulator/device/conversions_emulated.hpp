#pragma once

// Conversions that types.cuh leaves to the emulator, bit-exact as PTX's cvt.rn: round to nearest even; every NaN
// becomes the canonical one. The emulated NVRTC appends this to types.cuh.

inline float widen(float16 x) {
  const uint32 sign = static_cast<uint32>(x.bits & 0x8000U) << 16;
  const uint32 rest = x.bits & 0x7FFFU;
  // Rebias the exponent by 112; the multiplication also handles subnormals.
  const uint32 magnitude =
      rest >= 0x7C00U ? 0x7F800000U | rest << 13 : __float_as_uint(__uint_as_float(rest << 13) * 0x1p112F);
  return __uint_as_float(sign | magnitude);
}

inline float widen(bfloat16 x) { return __uint_as_float(static_cast<uint32>(x.bits) << 16); }

inline float16 to_float16(float x) {
  const uint32 bits = __float_as_uint(x);
  const uint32 sign = bits >> 16 & 0x8000U;
  const uint32 magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > 0x7F800000U) return {0x7FFFU};
  if (magnitude >= 0x477FF000U) return {static_cast<uint16>(sign | 0x7C00U)};  // from 65520 on values round to infinity
  // Subnormal: adding 0.5 aligns the mantissa so that the addition rounds it.
  if (magnitude < 0x38800000U)
    return {static_cast<uint16>(sign | (__float_as_uint(__uint_as_float(magnitude) + 0.5F) - 0x3F000000U))};
  const uint32 rounded = magnitude + 0xFFFU + (magnitude >> 13 & 1U);
  return {static_cast<uint16>(sign | (rounded - 0x38000000U) >> 13)};
}

inline bfloat16 to_bfloat16(float x) {
  const uint32 bits = __float_as_uint(x);
  if ((bits & 0x7FFFFFFFU) > 0x7F800000U) return {0x7FFFU};
  return {static_cast<uint16>((bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16)};
}
