#pragma once

#include <string_view>
#include <type_traits>

#include "base/error.hpp"
#include "tensor/half.hpp"

namespace saccade {

/// Calls VISIT(std::type_identity<T>{}) with the type of TS that DTYPE names; throws Error (kUnsupported) if there is
/// none.
template <typename... Ts, typename Visit>
void with_type(DType dtype, Visit&& visit) {
  const bool found = ((DTypeOf<Ts>::value == dtype && (visit(std::type_identity<Ts>{}), true)) || ...);
  if (!found) fail(ErrorCode::kUnsupported, "the element type {} is not supported", to_string(dtype));
}

/// Throws Error (kUnsupported) naming WHAT unless DTYPE is one of TS: the check of with_type() for shape rules.
template <typename... Ts>
void require_type(DType dtype, std::string_view what) {
  if (!((DTypeOf<Ts>::value == dtype) || ...))
    fail(ErrorCode::kUnsupported, "{} of type {} is not supported", what, to_string(dtype));
}

constexpr bool is_float(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat16 || dtype == DType::kBFloat16 || dtype == DType::kFloat64;
}
/// int8 .. uint64: neither bool nor packed types.
constexpr bool is_integer(DType dtype) { return dtype >= DType::kInt8 && dtype <= DType::kUInt64; }
constexpr bool is_number(DType dtype) { return is_float(dtype) || is_integer(dtype); }

/// with_type() over floating-point types, integer types, and both.
template <typename Visit>
void with_float(DType dtype, Visit&& visit) {
  with_type<float, Float16, BFloat16, double>(dtype, visit);
}
template <typename Visit>
void with_integer(DType dtype, Visit&& visit) {
  with_type<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t,
            std::uint64_t>(dtype, visit);
}
template <typename Visit>
void with_number(DType dtype, Visit&& visit) {
  is_float(dtype) ? with_float(dtype, visit) : with_integer(dtype, visit);
}

/// The accumulator type of products of T: float32 for fp16 and bf16, T itself otherwise.
template <typename T>
using Accumulator = std::conditional_t<std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>, float, T>;

}  // namespace saccade
