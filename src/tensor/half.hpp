#pragma once

#include <bit>
#include <cstdint>

#include "saccade/tensor.hpp"

namespace saccade {

/// IEEE 754 binary16: a storage type, arithmetic is in float. Conversion rounds half to even.
struct Float16 {
  std::uint16_t bits = 0;

  Float16() = default;
  constexpr explicit Float16(float value) : bits(pack(value)) {}
  static constexpr Float16 from_bits(std::uint16_t bits) {
    Float16 half;
    half.bits = bits;
    return half;
  }
  constexpr operator float() const {  // NOLINT(google-explicit-constructor): widening loses nothing
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16;
    const std::uint32_t exponent = (bits >> 10) & 0x1FU;
    const std::uint32_t mantissa = bits & 0x3FFU;
    if (exponent == 0) {  // zero and subnormals: units of 2^-24
      const float magnitude = static_cast<float>(mantissa) * 0x1p-24F;
      return sign == 0 ? magnitude : -magnitude;
    }
    const std::uint32_t wide = exponent == 0x1FU ? 0xFFU : exponent + (127 - 15);
    return std::bit_cast<float>(sign | wide << 23 | mantissa << 13);
  }

 private:
  static constexpr std::uint16_t pack(float value) {
    const auto all = std::bit_cast<std::uint32_t>(value);
    const auto sign = static_cast<std::uint16_t>((all >> 16) & 0x8000U);
    std::uint32_t magnitude = all & 0x7FFFFFFFU;
    if (magnitude > 0x7F800000U) return sign | 0x7E00U | static_cast<std::uint16_t>((magnitude >> 13) & 0x1FFU);  // NaN
    if (magnitude >= 0x47800000U) return sign | 0x7C00U;  // 65536 and up: infinity
    if (magnitude < 0x38800000U) {                        // below 2^-14: the addition rounds to units of 2^-24
      const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
      return sign | static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(shifted) - 0x3F000000U);
    }
    magnitude += 0xFFFU + ((magnitude >> 13) & 1U);
    return sign | static_cast<std::uint16_t>((magnitude - ((127U - 15U) << 23)) >> 13);
  }
};

/// The upper half of a float32: a storage type, arithmetic is in float. Conversion rounds half to even.
struct BFloat16 {
  std::uint16_t bits = 0;

  BFloat16() = default;
  constexpr explicit BFloat16(float value) : bits(pack(value)) {}
  static constexpr BFloat16 from_bits(std::uint16_t bits) {
    BFloat16 half;
    half.bits = bits;
    return half;
  }
  constexpr operator float() const {  // NOLINT(google-explicit-constructor): widening loses nothing
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }

 private:
  static constexpr std::uint16_t pack(float value) {
    const auto all = std::bit_cast<std::uint32_t>(value);
    if ((all & 0x7FFFFFFFU) > 0x7F800000U) return static_cast<std::uint16_t>(all >> 16 | 0x40U);  // a quiet NaN
    return static_cast<std::uint16_t>((all + 0x7FFFU + ((all >> 16) & 1U)) >> 16);
  }
};

template <>
struct DTypeOf<Float16> {
  static constexpr DType value = DType::kFloat16;
};
template <>
struct DTypeOf<BFloat16> {
  static constexpr DType value = DType::kBFloat16;
};

}  // namespace saccade
