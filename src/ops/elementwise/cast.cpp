#include "ops/elementwise/cast.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "ops/core/arithmetic.hpp"
#include "ops/core/copy.hpp"
#include "ops/core/dispatch.hpp"
#include "ops/core/op.hpp"
#include "ops/core/values.hpp"

// Cast, CastLike and BitCast. Elements are converted in blocks through the widest type of their kind (int64, uint64 or
// double), so that every pair of types needs one reader and one writer. ONNX leaves the conversion of out-of-range
// floats to integers undefined: here they saturate, and NaN becomes 0.
namespace saccade {
namespace {

constexpr std::int64_t kBlock = 512;

/// Elements FIRST .. FIRST + COUNT of a tensor, widened.
template <typename Wide>
void widen(const TensorView& from, std::int64_t first, std::int64_t count, Wide* to) {
  if (from.dtype == DType::kBool) {
    const auto* bytes = static_cast<const std::uint8_t*>(from.data) + first;
    std::transform(bytes, bytes + count, to, [](std::uint8_t byte) { return static_cast<Wide>(byte != 0); });
    return;
  }
  with_number(from.dtype, [&]<typename T>(std::type_identity<T>) {
    const T* values = static_cast<const T*>(from.data) + first;
    std::transform(values, values + count, to, [](T value) { return static_cast<Wide>(value); });
  });
}

/// Rounds VALUE to float32 on its way to half precision. If that is inexact, the last bit is set (round to odd), so
/// that the second rounding yields the half-precision number nearest to VALUE.
float toward_half(double value) {
  const auto nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || !std::isfinite(nearest)) return nearest;
  const auto bits = std::bit_cast<std::uint32_t>(nearest);
  const bool too_far = std::abs(static_cast<double>(nearest)) > std::abs(value);
  return std::bit_cast<float>((too_far ? bits - 1 : bits) | 1U);
}

template <typename T, typename Wide>
T narrow(Wide value) {
  if constexpr (std::is_same_v<Wide, double> && std::is_integral_v<T>)
    return saturate<T>(value);
  else if constexpr (std::is_same_v<Wide, double> && !std::is_same_v<Accumulator<T>, T>)
    return static_cast<T>(toward_half(value));
  else
    return static_cast<T>(static_cast<Accumulator<T>>(value));
}

template <typename Wide>
void narrow_block(const Wide* from, std::int64_t count, const TensorView& to, std::int64_t first) {
  if (to.dtype == DType::kBool) {
    std::transform(from, from + count, static_cast<bool*>(to.data) + first, [](Wide value) { return value != 0; });
    return;
  }
  with_number(to.dtype, [&]<typename T>(std::type_identity<T>) {
    std::transform(from, from + count, static_cast<T*>(to.data) + first, narrow<T, Wide>);
  });
}

template <typename Wide>
void cast_through(const TensorView& from, const TensorView& to) {
  std::array<Wide, kBlock> block;
  const std::int64_t elements = to.elements();
  for (std::int64_t first = 0; first < elements; first += kBlock) {
    const std::int64_t count = std::min(kBlock, elements - first);
    widen(from, first, count, block.data());
    narrow_block(block.data(), count, to, first);
  }
}

void cast(const KernelContext& context) { cast_elements(context.input(0), context.output()); }

void check_castable(DType dtype) {
  if (!is_number(dtype) && dtype != DType::kBool)
    fail(ErrorCode::kUnsupported, "casting from or to {} is not supported", to_string(dtype));
}

void infer_cast(InferContext& context) {
  const DType to = dtype_of_onnx(context.attributes().integer("to", 0));
  check_castable(context.dtype(0));
  check_castable(to);
  context.output(0, to, context.shape(0));
}

void infer_cast_like(InferContext& context) {
  check_castable(context.dtype(0));
  check_castable(context.dtype(1));
  context.output(0, context.dtype(1), context.shape(0));
}

void infer_bit_cast(InferContext& context) {
  const DType from = context.dtype(0);
  const DType to = dtype_of_onnx(context.attributes().integer("to", 0));
  if (from == DType::kString || to == DType::kString || bits_of(from) != bits_of(to))
    fail(ErrorCode::kInvalidFile, "the bits of {} can't be read as {}", to_string(from), to_string(to));
  context.output(0, to, context.shape(0));
}

constexpr OpTraits cast_traits(Arity arity) {
  return {.arity = arity,
          .elementwise = Elementwise::kUnary,
          .layout_agnostic = true,
          .identity_when_alike = true,
          .names_type = true,
          .cost = {.per = CostPer::kNothing}};
}

constexpr Op kCastOps[] = {
    {"", "Cast", infer_cast, cast, cast_traits({1, 1})},
    {"", "CastLike", infer_cast_like, cast, cast_traits({2, 2})},
    {"", "BitCast", infer_bit_cast, copy_elements, cast_traits({1, 1})},
};

}  // namespace

void cast_elements(const TensorView& from, const TensorView& to) {
  if (is_float(from.dtype)) return cast_through<double>(from, to);
  if (from.dtype == DType::kUInt64) return cast_through<std::uint64_t>(from, to);
  cast_through<std::int64_t>(from, to);
}

std::span<const Op> cast_ops() { return kCastOps; }

}  // namespace saccade
