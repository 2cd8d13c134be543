#include "ops/core/arithmetic.hpp"
#include "ops/elementwise/cast.hpp"
#include "ops/elementwise/elementwise.hpp"

// Pow. The result has the base's type; exponents, of any type, are first widened to int64 or double, which avoids a
// kernel per pair of types.
namespace saccade {
namespace {

void infer_pow(InferContext& context) {
  for (int i = 0; i < 2; ++i)
    if (!is_number(context.dtype(i)))
      fail(ErrorCode::kUnsupported, "Pow of {} is not supported", to_string(context.dtype(i)));
  context.output(0, context.dtype(0), broadcast_shape(context.shape(0), context.shape(1)));
}

/// Integers wrap; a negative power of a base other than 1 and -1 truncates to zero.
template <typename T>
T integer_power(T base, std::int64_t exponent) {
  if (exponent < 0) {
    if (base == 1) return 1;
    return std::is_signed_v<T> && base == static_cast<T>(-1) ? integer_power(base, exponent & 1) : T{0};
  }
  T power = 1;
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) power = MultiplyElements{}(power, base);
    base = MultiplyElements{}(base, base);
  }
  return power;
}

template <typename T>
struct Power {
  T operator()(T base, std::int64_t exponent) const {
    if constexpr (std::is_integral_v<T>)
      return integer_power(base, exponent);
    else
      return (*this)(base, static_cast<double>(exponent));
  }
  T operator()(T base, double exponent) const {
    if constexpr (std::is_integral_v<T>)
      return saturate<T>(std::pow(static_cast<double>(base), exponent));
    else
      return exponent == 2 ? base * base : std::pow(base, static_cast<T>(exponent));
  }
};

void pow(const KernelContext& context) {
  const TensorView& base = context.input(0);
  const TensorView& to = context.output();
  const bool whole = is_integer(context.input(1).dtype);
  const Tensor exponents(whole ? DType::kInt64 : DType::kFloat64, context.input(1).shape);
  const TensorView wide = view_of(exponents);
  cast_elements(context.input(1), wide);
  with_number(to.dtype, [&]<typename T>(std::type_identity<T>) {
    const Power<Accumulator<T>> power;
    whole ? map_pairs<T, std::int64_t, T>(base, wide, to, power) : map_pairs<T, double, T>(base, wide, to, power);
  });
}

constexpr Op kPowOps[] = {{"", "Pow", infer_pow, pow, OpTraits::broadcast({.slow = true})}};

}  // namespace

std::span<const Op> pow_ops() { return kPowOps; }

}  // namespace saccade
