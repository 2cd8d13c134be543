#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

// Functions with a fixed sequence of fp32 operations, so that devices are bit-identical: nothing is fused, products and
// sums are rounded one by one in the given order.
namespace saccade {

/// e^x by Cephes' expf (Moshier): x = n ln 2 + r, a polynomial of r, and an exponent. Relative error below 2e-7; 0
/// below -87.3, infinity above 88.7, NaN for NaN.
inline float portable_exp(float x) {
  if (!(x > -87.3F)) return std::isnan(x) ? x : 0.0F;
  if (x > 88.7F) return INFINITY;
  const float n = std::nearbyint(x * 1.44269504F);  // half to even
  float r = x - n * 0.693359375F;
  r = r - n * -2.12194440e-4F;
  float p = 1.9875691500e-4F;
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * (r * r) + r + 1.0F;
  const auto whole = static_cast<std::int32_t>(n);
  // In two steps, since 2^128 overflows float.
  const auto power = [](std::int32_t e) { return std::bit_cast<float>((e + 127) << 23); };
  const std::int32_t half = whole / 2;
  return p * power(half) * power(whole - half);
}

/// 1 / (1 + e^-x).
inline float portable_sigmoid(float x) { return 1.0F / (1.0F + portable_exp(-x)); }

}  // namespace saccade
