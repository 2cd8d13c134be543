#pragma once

#include <array>
#include <limits>

#include "saccade/tensor.hpp"

// Special float values.
namespace saccade {

inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Writes NaN, infinities, zeros of both signs and numbers that overflow exp into TENSOR (float32), every STEP elements
/// from FIRST on, cyclically.
inline Tensor with_specials(Tensor tensor, std::size_t step = 5, std::size_t first = 0) {
  constexpr std::array kSpecials = {kNan,   kInfinity, -kInfinity, -kNan,  0.0F,  -0.0F, 100.0F,
                                    -88.0F, -110.0F,   1e30F,      -1e30F, 88.5F, 20.0F, -20.0F};
  const auto elements = tensor.data<float>();
  for (std::size_t at = first, i = 0; at < elements.size(); at += step)
    elements[at] = kSpecials[i++ % kSpecials.size()];
  return tensor;
}

/// The same with COUNT of NaN, infinity and -infinity, cyclically, far apart.
inline Tensor with_few_specials(Tensor tensor, std::size_t count) {
  constexpr std::array kFew = {kNan, kInfinity, -kInfinity};
  const auto elements = tensor.data<float>();
  for (std::size_t i = 0; i < count && !elements.empty(); ++i)
    elements[(2 * i + 1) * elements.size() / (2 * count)] = kFew[i % kFew.size()];
  return tensor;
}

}  // namespace saccade
