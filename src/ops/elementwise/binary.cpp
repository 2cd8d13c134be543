#include "ops/core/arithmetic.hpp"
#include "ops/core/strided_copy.hpp"
#include "ops/elementwise/cast.hpp"
#include "ops/elementwise/elementwise.hpp"

// Arithmetic on two or more tensors with broadcasting.
namespace saccade {
namespace {

/// Python's remainder, with the divisor's sign, or C's (fmod = 1), with the dividend's.
struct Modulo {
  bool truncated;

  explicit Modulo(const Attributes& attributes) : truncated(attributes.integer("fmod", 0) != 0) {}

  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0) return 0;
      if constexpr (std::is_signed_v<T>)
        if (b == -1) return 0;
      const T rest = static_cast<T>(a % b);
      const bool other_sign = rest != 0 && (rest < 0) != (b < 0);
      return static_cast<T>(other_sign && !truncated ? rest + b : rest);
    } else {
      const T rest = std::fmod(a, b);
      if (truncated) return rest;
      if (rest == 0) return std::copysign(rest, b);
      return (rest < 0) != (b < 0) ? rest + b : rest;
    }
  }
};

struct PReluElements {
  template <typename T>
  T operator()(T x, T slope) const {
    return x < T{0} ? MultiplyElements{}(x, slope) : x;
  }
};

/// Swish of the gate x, times y.
struct SwiGlu {
  float alpha;

  explicit SwiGlu(const Attributes& attributes) : alpha(attributes.real("alpha", 1)) {}

  template <typename T>
  T operator()(T x, T y) const {
    return x / (1 + std::exp(-static_cast<T>(alpha) * x)) * y;
  }
};

/// All inputs have the same numeric type and broadcast.
void infer_arithmetic(InferContext& context) {
  Shape shape = context.shape(0);
  if (!is_number(context.dtype(0)))
    fail(ErrorCode::kUnsupported, "arithmetic on {} is not supported", to_string(context.dtype(0)));
  for (int i = 1; i < context.input_count(); ++i) {
    if (context.dtype(i) != context.dtype(0))
      fail(ErrorCode::kInvalidFile, "the inputs mix {} and {}", to_string(context.dtype(0)),
           to_string(context.dtype(i)));
    shape = broadcast_shape(shape, context.shape(i));
  }
  context.output(0, context.dtype(0), shape);
}

void infer_two_binary(InferContext& context) {
  context.input(1);
  infer_arithmetic(context);
}

void infer_prelu(InferContext& context) {
  infer_two_binary(context);
  if (broadcast_shape(context.shape(0), context.shape(1)) != context.shape(0))
    fail(ErrorCode::kInvalidFile, "PRelu's slope of shape {} doesn't broadcast to {}", context.shape(1).to_string(),
         context.shape(0).to_string());
}

void infer_float_arithmetic(InferContext& context) {
  require_type<float, Float16, BFloat16, double>(context.dtype(0), "an input");
  infer_arithmetic(context);
}

void infer_swiglu(InferContext& context) {
  context.input(1);
  infer_float_arithmetic(context);
  if (context.shape(0) != context.shape(1))
    fail(ErrorCode::kInvalidFile, "SwiGLU's gate of shape {} doesn't fit its values of {}",
         context.shape(0).to_string(), context.shape(1).to_string());
}

template <typename Function>
void run_binary(const KernelContext& context) {
  const auto function = make_function<Function>(context.attributes());
  with_number(context.output().dtype, [&]<typename T>(std::type_identity<T>) {
    map_pairs<T, T, T>(context.input(0), context.input(1), context.output(), function);
  });
}

/// Folds the inputs into the output one by one.
template <typename Function>
void run_variadic(const KernelContext& context) {
  const TensorView& to = context.output();
  const TensorView& first = context.input(0);
  if (first.data != to.data)
    strided_copy(to.dtype, to.shape, {first.data, 0, broadcast_strides(first.shape, to.shape)}, strided(to));
  with_number(to.dtype, [&]<typename T>(std::type_identity<T>) {
    for (int i = 1; i < context.input_count(); ++i) map_pairs<T, T, T>(to, context.input(i), to, Function{});
  });
}

void run_swiglu(const KernelContext& context) {
  const SwiGlu function(context.attributes());
  with_float(context.output().dtype, [&]<typename T>(std::type_identity<T>) {
    map_pairs<T, T, T>(context.input(0), context.input(1), context.output(), function);
  });
}

void run_mean(const KernelContext& context) {
  run_variadic<AddElements>(context);
  with_float(context.output().dtype, [&]<typename T>(std::type_identity<T>) {
    const auto count = static_cast<Accumulator<T>>(context.input_count());
    map_elements<T, T>(context.output(), context.output(), [&](Accumulator<T> sum) { return sum / count; });
  });
}

constexpr OpTraits kVariadic = OpTraits::broadcast({}, kAnyNumber, {1, kAnyNumber});

constexpr Op kBinaryOps[] = {
    {"", "Add", infer_two_binary, run_binary<AddElements>, OpTraits::broadcast(),
     Expression::numbers("sum({x}, {y})", "uint64({x}) + uint64({y})")},
    {"", "Sub", infer_two_binary, run_binary<SubtractElements>, OpTraits::broadcast(),
     Expression::numbers("difference({x}, {y})", "uint64({x}) - uint64({y})")},
    {"", "Mul", infer_two_binary, run_binary<MultiplyElements>, OpTraits::broadcast(),
     Expression::numbers("{x} * {y}", "uint64({x}) * uint64({y})")},
    {"", "Div", infer_two_binary, run_binary<DivideElements>, OpTraits::broadcast({.slow = true}),
     Expression::numbers("{x} / {y}", "integer_quotient({x}, {y})")},
    {"", "Mod", infer_two_binary, run_binary<Modulo>, OpTraits::broadcast({}, 0)},
    {"", "PRelu", infer_prelu, run_binary<PReluElements>, OpTraits::broadcast(),
     Expression::numbers("({x} < 0 ? {x} * {y} : {x})", "({x} < 0 ? uint64({x}) * uint64({y}) : uint64({x}))")},
    {"", "SwiGLU", infer_swiglu, run_swiglu, OpTraits::broadcast(),
     Expression::floats("swish({x}, {a}) * {y}", {"alpha", 1})},
    {"", "Max", infer_arithmetic, run_variadic<MaxElements>, kVariadic, Expression::numbers("max_nan({x}, {y})")},
    {"", "Min", infer_arithmetic, run_variadic<MinElements>, kVariadic, Expression::numbers("min_nan({x}, {y})")},
    {"", "Sum", infer_float_arithmetic, run_variadic<AddElements>, kVariadic, Expression::floats("sum({x}, {y})")},
    {"", "Mean", infer_float_arithmetic, run_mean, kVariadic,
     Expression::floats("sum({x}, {y})").finished("{x} / {n}")},
};

}  // namespace

std::span<const Op> binary_ops() { return kBinaryOps; }

}  // namespace saccade
