#include <cmath>
#include <numbers>

#include "ops/core/arithmetic.hpp"
#include "ops/elementwise/cast.hpp"
#include "ops/elementwise/elementwise.hpp"

// Functions of one element. Those with attributes are classes constructed from them, with ONNX's defaults.
namespace saccade {
namespace {

void infer_float(InferContext& context) {
  require_type<float, Float16, BFloat16, double>(context.dtype(0), "an input");
  context.output(0, context.dtype(0), context.shape(0));
}

void infer_number(InferContext& context) {
  if (!is_number(context.dtype(0)))
    fail(ErrorCode::kUnsupported, "an input of type {} is not supported", to_string(context.dtype(0)));
  context.output(0, context.dtype(0), context.shape(0));
}

void infer_not(InferContext& context) {
  require_type<bool>(context.dtype(0), "an input");
  context.output(0, DType::kBool, context.shape(0));
}

void infer_test(InferContext& context) {
  infer_float(context);
  context.output(0, DType::kBool, context.shape(0));
}

struct LeakyRelu {
  float alpha;
  explicit LeakyRelu(const Attributes& attributes) : alpha(attributes.real("alpha", 0.01F)) {}
  template <typename T>
  T operator()(T x) const {
    return x < 0 ? static_cast<T>(alpha) * x : x;
  }
};

struct ThresholdedRelu {
  float alpha;
  explicit ThresholdedRelu(const Attributes& attributes) : alpha(attributes.real("alpha", 1)) {}
  template <typename T>
  T operator()(T x) const {
    return x <= static_cast<T>(alpha) ? T{0} : x;  // propagates NaN
  }
};

/// x sigmoid(alpha x)
struct Swish {
  float alpha;
  explicit Swish(const Attributes& attributes) : alpha(attributes.real("alpha", 1)) {}
  template <typename T>
  T operator()(T x) const {
    return x / (1 + std::exp(-static_cast<T>(alpha) * x));
  }
};

struct Elu {
  float alpha;
  explicit Elu(const Attributes& attributes) : alpha(attributes.real("alpha", 1)) {}
  template <typename T>
  T operator()(T x) const {
    return x < 0 ? static_cast<T>(alpha) * std::expm1(x) : x;
  }
};

struct Celu {
  float alpha;
  explicit Celu(const Attributes& attributes) : alpha(attributes.real("alpha", 1)) {}
  template <typename T>
  T operator()(T x) const {
    return x < 0 ? static_cast<T>(alpha) * std::expm1(x / static_cast<T>(alpha)) : x;
  }
};

struct Selu {
  float alpha;
  float gamma;
  explicit Selu(const Attributes& attributes)
      : alpha(attributes.real("alpha", 1.67326319217681884765625F)),
        gamma(attributes.real("gamma", 1.05070102214813232421875F)) {}
  template <typename T>
  T operator()(T x) const {
    return static_cast<T>(gamma) * (x < 0 ? static_cast<T>(alpha) * std::expm1(x) : x);
  }
};

struct HardSigmoid {
  float alpha;
  float beta;
  explicit HardSigmoid(const Attributes& attributes)
      : alpha(attributes.real("alpha", 0.2F)), beta(attributes.real("beta", 0.5F)) {}
  template <typename T>
  T operator()(T x) const {
    return MinElements{}(MaxElements{}(static_cast<T>(alpha) * x + static_cast<T>(beta), T{0}), T{1});
  }
};

/// With the error function, or its tanh approximation.
struct Gelu {
  bool by_tanh;
  explicit Gelu(const Attributes& attributes) : by_tanh(attributes.text("approximate", "none") == "tanh") {}
  template <typename T>
  T operator()(T x) const {
    constexpr T kRoot2OverPi = std::numbers::sqrt2_v<T> * std::numbers::inv_sqrtpi_v<T>;
    constexpr T kCubic = static_cast<T>(0.044715);
    const T inner =
        by_tanh ? std::tanh(kRoot2OverPi * (x + kCubic * x * x * x)) : std::erf(x / std::numbers::sqrt2_v<T>);
    return x / 2 * (1 + inner);
  }
};

struct IsInf {
  bool negative;
  bool positive;
  explicit IsInf(const Attributes& attributes)
      : negative(attributes.integer("detect_negative", 1) != 0),
        positive(attributes.integer("detect_positive", 1) != 0) {}
  template <typename T>
  bool operator()(T x) const {
    return std::isinf(x) && (x < 0 ? negative : positive);
  }
};

/// log(1 + e^x) without overflow.
constexpr auto kSoftplus = [](auto x) { return std::log1p(std::exp(-std::abs(x))) + (x > 0 ? x : 0); };

constexpr auto kNegate = [](auto x) {
  if constexpr (std::is_integral_v<decltype(x)>)
    return SubtractElements{}(decltype(x){0}, x);
  else
    return -x;
};

constexpr auto kAbsolute = [](auto x) {
  if constexpr (std::is_integral_v<decltype(x)>)
    return x < 0 ? kNegate(x) : x;
  else
    return std::abs(x);
};

/// Both propagate NaN.
constexpr auto kRelu = [](auto x) { return x < 0 ? decltype(x){0} : x; };
constexpr auto kSign = [](auto x) {
  using T = decltype(x);
  return x > 0 ? T{1} : x < 0 ? static_cast<T>(-1) : x;
};

constexpr auto kHardSwish = [](auto x) {
  using T = decltype(x);
  return x * MinElements{}(MaxElements{}(x / 6 + T{0.5}, T{0}), T{1});
};

template <auto Function>
void run_float(const KernelContext& context) {
  with_float(context.output().dtype, [&]<typename T>(std::type_identity<T>) {
    map_elements<T, T>(context.input(0), context.output(), Function);
  });
}

/// The same for a function with attributes.
template <typename Function>
void run_float_of(const KernelContext& context) {
  const Function function(context.attributes());
  with_float(context.output().dtype, [&]<typename T>(std::type_identity<T>) {
    map_elements<T, T>(context.input(0), context.output(), function);
  });
}

template <auto Function>
void run_number(const KernelContext& context) {
  with_number(context.output().dtype, [&]<typename T>(std::type_identity<T>) {
    map_elements<T, T>(context.input(0), context.output(), Function);
  });
}

/// erf; for integers truncated, as in ONNX's reference.
constexpr auto kErf = [](auto x) {
  if constexpr (std::is_integral_v<decltype(x)>)
    return element_of<decltype(x)>(std::erf(static_cast<float>(x)));
  else
    return std::erf(x);
};

template <typename Function>
void run_test(const KernelContext& context, const Function& function) {
  with_float(context.input(0).dtype, [&]<typename T>(std::type_identity<T>) {
    map_elements<T, bool>(context.input(0), context.output(), function);
  });
}

void run_is_nan(const KernelContext& context) {
  run_test(context, [](auto x) { return std::isnan(x); });
}

void run_is_inf(const KernelContext& context) { run_test(context, IsInf(context.attributes())); }

void run_logical_not(const KernelContext& context) {
  map_elements<std::uint8_t, bool>(context.input(0), context.output(), [](std::uint8_t byte) { return byte == 0; });
}

void infer_gelu(InferContext& context) {
  const std::string approximate = context.attributes().text("approximate", "none");
  if (approximate != "none" && approximate != "tanh")
    fail(ErrorCode::kInvalidFile, "Gelu's approximate is '{}', not none or tanh", approximate);
  infer_float(context);
}

void infer_clip(InferContext& context) {
  infer_number(context);
  for (int i = 1; i <= 2; ++i)
    if (context.has(i) && (context.dtype(i) != context.dtype(0) || context.shape(i).elements() != 1))
      fail(ErrorCode::kInvalidFile, "Clip's bound (input {}) must be one {}", i, to_string(context.dtype(0)));
}

/// A bound of Clip, or OTHERWISE if it is omitted. As a half-precision post-op its bounds are float32.
template <typename T>
Accumulator<T> bound(const KernelContext& context, int i, Accumulator<T> otherwise) {
  if (!context.has(i)) return otherwise;
  T value{};
  cast_elements(context.input(i), {&value, DTypeOf<T>::value, Layout::kRowMajor, {}});
  return static_cast<Accumulator<T>>(value);
}

void run_clip(const KernelContext& context) {
  with_number(context.output().dtype, [&]<typename T>(std::type_identity<T>) {
    using Limits = std::numeric_limits<Accumulator<T>>;
    const auto infinite = Limits::has_infinity;
    const auto low = bound<T>(context, 1, infinite ? -Limits::infinity() : Limits::lowest());
    const auto high = bound<T>(context, 2, infinite ? Limits::infinity() : Limits::max());
    map_elements<T, T>(context.input(0), context.output(), [&](Accumulator<T> x) {
      x = x < low ? low : x;
      return x > high ? high : x;
    });
  });
}

// A SiLU, a root or a reciprocal takes one or two instructions of a GPU's special function unit: a fused kernel
// recomputes it for each reader.
constexpr OpTraits kFunction = OpTraits::unary();
constexpr OpTraits kSlowFunction = OpTraits::unary({.slow = true});
// Half precision cannot represent large angles accurately.
constexpr OpTraits kAngleFunction = OpTraits::unary({.slow = true}, 0);
// The result is bool.
constexpr OpTraits kPredicate = OpTraits::unary({}, 0);
constexpr OpTraits kClipTraits{
    .arity = {1, 3}, .elementwise = Elementwise::kUnary, .layout_agnostic = true, .float_inputs = kAnyNumber};

constexpr Op kUnaryOps[] = {
    {"", "Sqrt", infer_float, run_float<[](auto x) { return std::sqrt(x); }>, kFunction,
     Expression::floats("sqrt({x})")},
    {"", "Exp", infer_float, run_float<[](auto x) { return std::exp(x); }>, kSlowFunction,
     Expression::floats("exp({x})")},
    {"", "Log", infer_float, run_float<[](auto x) { return std::log(x); }>, kSlowFunction,
     Expression::floats("log({x})")},
    {"", "Reciprocal", infer_float, run_float<[](auto x) { return 1 / x; }>, kFunction, Expression::floats("1 / {x}")},
    {"", "Floor", infer_float, run_float<[](auto x) { return std::floor(x); }>, kFunction,
     Expression::floats("floor({x})")},
    {"", "Ceil", infer_float, run_float<[](auto x) { return std::ceil(x); }>, kFunction,
     Expression::floats("ceil({x})")},
    {"", "Round", infer_float, run_float<[](auto x) { return std::nearbyint(x); }>, kFunction,
     Expression::floats("rint({x})")},  // half to even, the default rounding mode
    {"", "Erf", infer_number, run_number<kErf>, kSlowFunction, Expression::floats("erf({x})")},
    {"", "Sin", infer_float, run_float<[](auto x) { return std::sin(x); }>, kAngleFunction,
     Expression::floats("sin({x}) /* local memory: range reduction of large angles */")},
    {"", "Cos", infer_float, run_float<[](auto x) { return std::cos(x); }>, kAngleFunction,
     Expression::floats("cos({x}) /* local memory: range reduction of large angles */")},
    {"", "Tan", infer_float, run_float<[](auto x) { return std::tan(x); }>, kAngleFunction,
     Expression::floats("tan({x}) /* local memory: range reduction of large angles */")},
    {"", "Asin", infer_float, run_float<[](auto x) { return std::asin(x); }>, kSlowFunction,
     Expression::floats("asin({x})")},
    {"", "Acos", infer_float, run_float<[](auto x) { return std::acos(x); }>, kSlowFunction,
     Expression::floats("acos({x})")},
    {"", "Atan", infer_float, run_float<[](auto x) { return std::atan(x); }>, kSlowFunction,
     Expression::floats("atan({x})")},
    {"", "Sinh", infer_float, run_float<[](auto x) { return std::sinh(x); }>, kSlowFunction,
     Expression::floats("sinh({x})")},
    {"", "Cosh", infer_float, run_float<[](auto x) { return std::cosh(x); }>, kSlowFunction,
     Expression::floats("cosh({x})")},
    {"", "Tanh", infer_float, run_float<[](auto x) { return std::tanh(x); }>, kSlowFunction,
     Expression::floats("tanh({x})")},
    {"", "Asinh", infer_float, run_float<[](auto x) { return std::asinh(x); }>, kSlowFunction,
     Expression::floats("asinh({x})")},
    {"", "Acosh", infer_float, run_float<[](auto x) { return std::acosh(x); }>, kSlowFunction,
     Expression::floats("acosh({x})")},
    {"", "Atanh", infer_float, run_float<[](auto x) { return std::atanh(x); }>, kSlowFunction,
     Expression::floats("atanh({x})")},
    {"", "Sigmoid", infer_float, run_float<[](auto x) { return 1 / (1 + std::exp(-x)); }>, kSlowFunction,
     Expression::floats("sigmoid({x})")},
    {"", "Softsign", infer_float, run_float<[](auto x) { return x / (1 + std::abs(x)); }>, kFunction,
     Expression::floats("{x} / (1 + fabs({x}))")},
    {"", "Mish", infer_float, run_float<[](auto x) { return x * std::tanh(kSoftplus(x)); }>, kSlowFunction,
     Expression::floats("{x} * tanh(softplus({x}))")},
    {"saccade", "Silu", infer_float, run_float<[](auto x) { return x / (1 + std::exp(-x)); }>, kFunction,
     Expression::floats("silu({x})")},
    {"", "Softplus", infer_float, run_float<kSoftplus>, kSlowFunction, Expression::floats("softplus({x})")},
    {"", "HardSwish", infer_float, run_float<kHardSwish>, kFunction, Expression::floats("hard_swish({x})")},
    {"", "LeakyRelu", infer_float, run_float_of<LeakyRelu>, kFunction,
     Expression::floats("leaky_relu({x}, {a})", {"alpha", 0.01F})},
    {"", "ThresholdedRelu", infer_float, run_float_of<ThresholdedRelu>, kFunction,
     Expression::floats("thresholded_relu({x}, {a})", {"alpha", 1})},
    {"", "Swish", infer_float, run_float_of<Swish>, kFunction, Expression::floats("swish({x}, {a})", {"alpha", 1})},
    {"", "Elu", infer_float, run_float_of<Elu>, kFunction, Expression::floats("elu({x}, {a})", {"alpha", 1})},
    {"", "Celu", infer_float, run_float_of<Celu>, kFunction, Expression::floats("celu({x}, {a})", {"alpha", 1})},
    {"", "Selu", infer_float, run_float_of<Selu>, kFunction,
     Expression::floats("selu({x}, {a}, {b})", {"alpha", 1.67326319217681884765625F},
                        {"gamma", 1.05070102214813232421875F})},
    {"", "HardSigmoid", infer_float, run_float_of<HardSigmoid>, kFunction,
     Expression::floats("hard_sigmoid({x}, {a}, {b})", {"alpha", 0.2F}, {"beta", 0.5F})},
    {"", "Gelu", infer_gelu, run_float_of<Gelu>, kSlowFunction, Expression::floats("gelu({x})")},
    {"", "Relu", infer_number, run_number<kRelu>, kFunction, Expression::numbers("relu({x})")},
    {"", "Sign", infer_number, run_number<kSign>, kFunction, Expression::numbers("sign({x})")},
    {"", "Neg", infer_number, run_number<kNegate>, kFunction, Expression::numbers("-{x}", "0 - uint64({x})")},
    {"", "Abs", infer_number, run_number<kAbsolute>, kFunction,
     Expression::numbers("fabs({x})", "({x} < 0 ? 0 - uint64({x}) : uint64({x}))")},
    {"", "Clip", infer_clip, run_clip, kClipTraits},
    {"", "Not", infer_not, run_logical_not, kPredicate},
    {"", "IsNaN", infer_test, run_is_nan, kPredicate, Expression::floats("{x} != {x}")},
    {"", "IsInf", infer_test, run_is_inf, kPredicate,
     Expression::floats("fabs({x}) == INFINITY && ({x} < 0 ? {a} : {b}) != 0", Parameter::flag("detect_negative", true),
                        Parameter::flag("detect_positive", true))},
};

}  // namespace

std::span<const Op> unary_ops() { return kUnaryOps; }

}  // namespace saccade
