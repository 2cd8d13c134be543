#include "cpu/kernels/elementwise_kernels.hpp"

#include "cpu/kernels/vector_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/kernels/elementwise_kernels.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

#include "cpu/kernels/vector_math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace saccade::cpu {
namespace HWY_NAMESPACE {
namespace {

// Operations on one vector. a is the operand, p and q are the attributes alpha and beta.
#define SACCADE_UNARY(name, ...)                                           \
  struct name {                                                            \
    static HWY_INLINE Float apply(FloatTag d, Float x, Float p, Float q) { \
      static_cast<void>(d), static_cast<void>(p), static_cast<void>(q);    \
      __VA_ARGS__                                                          \
    }                                                                      \
  };
#define SACCADE_BINARY(name, expression)                                   \
  struct name {                                                            \
    static HWY_INLINE Float apply(Float x, Float y) { return expression; } \
  };

SACCADE_UNARY(Relu, return hn::Max(hn::Zero(d), x);)
SACCADE_UNARY(LeakyRelu, return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Mul(x, p), x);)
SACCADE_UNARY(Elu, const Float negative = hn::Mul(p, hn::Expm1(d, hn::Min(x, hn::Zero(d))));
              return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), negative, x);)
SACCADE_UNARY(Sigmoid, return sigmoid(d, x);)
SACCADE_UNARY(Silu, return silu(d, x);)
SACCADE_UNARY(Tanh, return tanh(d, x);)
SACCADE_UNARY(Erf, return erf(d, x);)
SACCADE_UNARY(Gelu, const Float half = hn::Mul(hn::Set(d, 0.5F), x);
              return hn::MulAdd(half, erf(d, hn::Mul(x, hn::Set(d, 0.70710678F))), half);)
SACCADE_UNARY(GeluTanh, const Float cube = hn::Mul(hn::Mul(x, x), x);
              const Float inner = hn::Mul(hn::Set(d, 0.79788456F), hn::MulAdd(hn::Set(d, 0.044715F), cube, x));
              const Float half = hn::Mul(hn::Set(d, 0.5F), x); return hn::MulAdd(half, tanh(d, inner), half);)
SACCADE_UNARY(HardSigmoid, return hn::Max(hn::Zero(d), hn::Min(hn::Set(d, 1.0F), hn::MulAdd(p, x, q)));)
SACCADE_UNARY(HardSwish, const Float gate = hn::MulAdd(x, hn::Set(d, 1.0F / 6.0F), hn::Set(d, 0.5F));
              return hn::Mul(x, hn::Max(hn::Zero(d), hn::Min(hn::Set(d, 1.0F), gate)));)
SACCADE_UNARY(Celu, const Float negative = hn::Mul(p, hn::Expm1(d, hn::Div(hn::Min(x, hn::Zero(d)), p)));
              return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), negative, x);)
SACCADE_UNARY(Selu, const Float negative = hn::Mul(p, hn::Expm1(d, hn::Min(x, hn::Zero(d))));
              return hn::Mul(q, hn::IfThenElse(hn::Lt(x, hn::Zero(d)), negative, x));)
SACCADE_UNARY(ThresholdedRelu, return hn::IfThenZeroElse(hn::Le(x, p), x);)
SACCADE_UNARY(Swish, return hn::Div(x, hn::Add(hn::Set(d, 1.0F), exp(d, hn::Neg(hn::Mul(p, x)))));)
SACCADE_UNARY(Sin, return sin(d, x);)
SACCADE_UNARY(Cos, return cos(d, x);)
SACCADE_UNARY(Sign, const Float one = hn::CopySign(hn::Set(d, 1.0F), x);
              return hn::IfThenElse(hn::Gt(hn::Abs(x), hn::Zero(d)), one, x);)
SACCADE_UNARY(Cube, return hn::Mul(hn::Mul(x, x), x);)
SACCADE_UNARY(Power, return power(d, x, p, q);)
SACCADE_UNARY(Clip, return hn::Min(q, hn::Max(p, x));)
SACCADE_UNARY(Exp, return exp(d, x);)
SACCADE_UNARY(Log, return log(d, x);)
SACCADE_UNARY(Sqrt, return hn::Sqrt(x);)
// x^0.5 as in C: infinity for -infinity, and never a negative zero.
SACCADE_UNARY(PowerOfHalf, const Float infinity = hn::Set(d, std::numeric_limits<float>::infinity());
              const Float root = hn::Sqrt(hn::Add(x, hn::Zero(d)));
              return hn::IfThenElse(hn::Eq(x, hn::Neg(infinity)), infinity, root);)
SACCADE_UNARY(Square, return hn::Mul(x, x);)
SACCADE_UNARY(Reciprocal, return hn::Div(hn::Set(d, 1.0F), x);)
SACCADE_UNARY(Abs, return hn::Abs(x);)
SACCADE_UNARY(Neg, return hn::Neg(x);)
SACCADE_UNARY(Floor, return hn::Floor(x);)
SACCADE_UNARY(Ceil, return hn::Ceil(x);)
SACCADE_UNARY(Round, return hn::Round(x);)
SACCADE_UNARY(Softsign, return hn::Div(x, hn::Add(hn::Set(d, 1.0F), hn::Abs(x)));)
// log(1 + e^x) = max(x, 0) + log(1 + e^-|x|)
SACCADE_UNARY(Softplus, const Float tail = hn::Log1p(d, exp(d, hn::Neg(hn::Abs(x))));
              return hn::Add(hn::Max(hn::Zero(d), x), tail);)
SACCADE_UNARY(Mish, return hn::Mul(x, tanh(d, Softplus::apply(d, x, p, q)));)

SACCADE_BINARY(Add, hn::Add(x, y))
SACCADE_BINARY(Sub, hn::Sub(x, y))
SACCADE_BINARY(Mul, hn::Mul(x, y))
SACCADE_BINARY(Div, hn::Div(x, y))
SACCADE_BINARY(Max, greater(x, y))
SACCADE_BINARY(Min, lesser(x, y))
SACCADE_BINARY(PRelu, hn::IfThenElse(hn::Lt(x, hn::Zero(FloatTag())), hn::Mul(x, y), x))

#undef SACCADE_UNARY
#undef SACCADE_BINARY

template <typename Op>
void unary_loop(const float* a, const float* /*b*/, float* dst, std::size_t count, float alpha, float beta) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  const Float p = hn::Set(d, alpha);
  const Float q = hn::Set(d, beta);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(Op::apply(d, hn::LoadU(d, a + i), p, q), d, dst + i);
  if (i < count) store_tail(d, Op::apply(d, load_tail(d, a + i, count - i), p, q), dst + i, count - i);
}

enum class Single { kNone, kA, kB };

/// kSingle: which operand is one element.
template <typename Op, Single kSingle>
void binary_loop(const float* a, const float* b, float* dst, std::size_t count, float /*alpha*/, float /*beta*/) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  const Float fixed = kSingle == Single::kA ? hn::Set(d, *a) : kSingle == Single::kB ? hn::Set(d, *b) : hn::Zero(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const Float x = kSingle == Single::kA ? fixed : hn::LoadU(d, a + i);
    const Float y = kSingle == Single::kB ? fixed : hn::LoadU(d, b + i);
    hn::StoreU(Op::apply(x, y), d, dst + i);
  }
  if (i == count) return;
  const Float x = kSingle == Single::kA ? fixed : load_tail(d, a + i, count - i);
  const Float y = kSingle == Single::kB ? fixed : load_tail(d, b + i, count - i);
  store_tail(d, Op::apply(x, y), dst + i, count - i);
}

struct Entry {
  std::string_view op;
  ElementKernels kernels;
};

template <typename Op>
constexpr Entry unary(std::string_view op) {
  return {op, {.both = unary_loop<Op>}};
}

template <typename Op>
constexpr Entry binary(std::string_view op) {
  return {op,
          {.both = binary_loop<Op, Single::kNone>,
           .scalar_a = binary_loop<Op, Single::kA>,
           .scalar_b = binary_loop<Op, Single::kB>}};
}

constexpr Entry kUnary[] = {
    unary<Relu>("Relu"),
    unary<LeakyRelu>("LeakyRelu"),
    unary<Elu>("Elu"),
    unary<Sigmoid>("Sigmoid"),
    unary<Silu>("Silu"),
    unary<Tanh>("Tanh"),
    unary<Erf>("Erf"),
    unary<Gelu>("Gelu"),
    unary<GeluTanh>("GeluTanh"),
    unary<HardSigmoid>("HardSigmoid"),
    unary<HardSwish>("HardSwish"),
    unary<Celu>("Celu"),
    unary<Selu>("Selu"),
    unary<ThresholdedRelu>("ThresholdedRelu"),
    unary<Swish>("Swish"),
    unary<Sin>("Sin"),
    unary<Cos>("Cos"),
    unary<Sign>("Sign"),
    unary<Cube>("Cube"),
    unary<Power>("Power"),
    unary<Clip>("Clip"),
    unary<Exp>("Exp"),
    unary<Log>("Log"),
    unary<Sqrt>("Sqrt"),
    unary<PowerOfHalf>("PowerOfHalf"),
    unary<Square>("Square"),
    unary<Reciprocal>("Reciprocal"),
    unary<Abs>("Abs"),
    unary<Neg>("Neg"),
    unary<Floor>("Floor"),
    unary<Ceil>("Ceil"),
    unary<Round>("Round"),
    unary<Softsign>("Softsign"),
    unary<Softplus>("Softplus"),
    unary<Mish>("Mish"),
};

constexpr Entry kBinary[] = {
    binary<Add>("Add"), binary<Sub>("Sub"), binary<Mul>("Mul"),     binary<Div>("Div"),
    binary<Max>("Max"), binary<Min>("Min"), binary<PRelu>("PRelu"),
};

ElementKernels find(bool is_unary, std::string_view op) {
  if (is_unary) {
    for (const Entry& entry : kUnary)
      if (entry.op == op) return entry.kernels;
  } else {
    for (const Entry& entry : kBinary)
      if (entry.op == op) return entry.kernels;
  }
  return {};
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace saccade::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace saccade::cpu {
namespace {

HWY_EXPORT(find);

std::optional<ElementKernels> kernels(bool unary, std::string_view op) {
  const ElementKernels found = HWY_DYNAMIC_DISPATCH(find)(unary, op);
  return found.both == nullptr ? std::nullopt : std::optional(found);
}

}  // namespace

std::optional<ElementKernels> unary_kernels(std::string_view op) { return kernels(true, op); }
std::optional<ElementKernels> binary_kernels(std::string_view op) { return kernels(false, op); }

}  // namespace saccade::cpu
#endif
