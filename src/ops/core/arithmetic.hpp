#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

// Element arithmetic that is defined for every operand: integers wrap around, and integer division by zero yields zero.
namespace saccade {

/// VALUE truncated and saturated to T; 0 for NaN.
template <typename T>
T saturate(double value) {
  // 2^digits is above every T and exact in double.
  const double limit = std::ldexp(1.0, std::numeric_limits<T>::digits);
  if (std::isnan(value)) return 0;
  if (value >= limit) return std::numeric_limits<T>::max();
  if (value <= static_cast<double>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
  return static_cast<T>(value);
}

/// Converts a result computed as Number to an element: integers are truncated, as in ONNX Runtime and NumPy, and
/// saturated to T.
template <typename T, typename Number>
T element_of(Number value) {
  if constexpr (std::is_integral_v<T>)
    return saturate<T>(value);
  else
    return static_cast<T>(value);
}

/// An unsigned type in which T's sums and products wrap instead of overflowing (a product of two uint16 is an int).
template <typename T>
using Wrapping = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

struct AddElements {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
    else
      return a + b;
  }
};

struct SubtractElements {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
    else
      return a - b;
  }
};

struct MultiplyElements {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
    else
      return a * b;
  }
};

/// Integer division truncates.
struct DivideElements {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0) return 0;
      if constexpr (std::is_signed_v<T>)
        if (b == -1) return SubtractElements{}(T{0}, a);
      return static_cast<T>(a / b);
    } else {
      return a / b;
    }
  }
};

/// Whether VALUE replaces BEST when the first maximum is selected: NaN is greater than all numbers.
template <typename T>
bool is_above(T value, T best) {
  return value > best || (value != value && best == best);
}

/// NaN is propagated, as in NumPy.
struct MaxElements {
  template <typename T>
  T operator()(T a, T b) const {
    return a >= b || a != a ? a : b;
  }
};

struct MinElements {
  template <typename T>
  T operator()(T a, T b) const {
    return a <= b || a != a ? a : b;
  }
};

}  // namespace saccade
