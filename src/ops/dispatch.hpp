#pragma once

#include <string_view>
#include <type_traits>

#include "base/error.hpp"
#include "tensor/half.hpp"

namespace saccade {

/// Calls VISIT(std::type_identity<T>{}) with the one of TS that DTYPE names; throws Error (kUnsupported) where none is.
template <typename... Ts, typename Visit>
void with_type(DType dtype, Visit&& visit) {
  const bool found = ((DTypeOf<Ts>::value == dtype && (visit(std::type_identity<Ts>{}), true)) || ...);
  if (!found) fail(ErrorCode::kUnsupported, "the element type {} is not supported", to_string(dtype));
}

/// Throws Error (kUnsupported) naming WHAT unless DTYPE is one of TS: a shape rule's half of with_type().
template <typename... Ts>
void require_type(DType dtype, std::string_view what) {
  if (!((DTypeOf<Ts>::value == dtype) || ...))
    fail(ErrorCode::kUnsupported, "{} of type {} is not supported", what, to_string(dtype));
}

/// What sums of products of T are kept in: float for the halves, T itself otherwise.
template <typename T>
using Accumulator = std::conditional_t<std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>, float, T>;

}  // namespace saccade
