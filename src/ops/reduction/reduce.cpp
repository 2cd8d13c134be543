#include <cmath>
#include <limits>
#include <vector>

#include "ops/core/dispatch.hpp"
#include "ops/core/op.hpp"
#include "ops/core/values.hpp"

// Reductions over axes: ReduceSum, ReduceMean, ReduceMax, ReduceMin, ReduceProd, ReduceL1, ReduceL2, ReduceSumSquare,
// ReduceLogSum, ReduceLogSumExp. Inputs: data, axes (optional). Floating-point numbers are accumulated in float64,
// integers in 64 bits.
namespace saccade {
namespace {

/// The axes that a node reduces, and the resulting shapes.
struct Reduction {
  Shape kept;  ///< the input's shape with 1 for every reduced axis
  Shape output;
};

Reduction reduction_of(const Attributes& attributes, const Shape& input, const std::vector<std::int64_t>& axes) {
  Reduction reduction;
  std::vector<bool> reduced(static_cast<std::size_t>(input.rank()), false);
  for (const std::int64_t axis : axes) {
    const int at = InferContext::axis(axis, input.rank());
    if (at < input.rank()) reduced[static_cast<std::size_t>(at)] = true;
  }
  if (axes.empty()) reduced.assign(reduced.size(), attributes.integer("noop_with_empty_axes", 0) == 0);
  const bool keep = attributes.integer("keepdims", 1) != 0;
  for (int i = 0; i < input.rank(); ++i) {
    const bool gone = reduced[static_cast<std::size_t>(i)];
    reduction.kept.push_back(gone ? 1 : input[i]);
    if (!gone || keep) reduction.output.push_back(reduction.kept[i]);
  }
  return reduction;
}

void infer_shape(InferContext& context) {
  std::vector<std::int64_t> axes;
  if (context.has(1)) axes = context.integers(1, "a reduction's axes");
  context.output(0, context.dtype(0), reduction_of(context.attributes(), context.shape(0), axes).output);
}

void infer_reduce(InferContext& context) {
  if (!is_number(context.dtype(0)))
    fail(ErrorCode::kUnsupported, "an input of type {} is not supported", to_string(context.dtype(0)));
  infer_shape(context);
}

void infer_extreme(InferContext& context) {
  context.dtype(0) == DType::kBool ? infer_shape(context) : infer_reduce(context);
}

template <typename T>
constexpr bool kIsInteger = std::is_integral_v<T>;
/// Integers are accumulated unsigned: the same bits, and overflow is defined.
template <typename T>
using Wide = std::conditional_t<kIsInteger<T>, std::uint64_t, double>;
template <typename T>
Wide<T> widen(T value) {
  if constexpr (kIsInteger<T>)
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  else
    return static_cast<double>(value);
}
template <typename T>
T narrowed(Wide<T> value) {
  if constexpr (kIsInteger<T>)
    return static_cast<T>(value);
  else
    return static_cast<T>(static_cast<Accumulator<T>>(value));
}

/// A reduction: how an element is accumulated, and the result from the accumulator of COUNT elements.
template <typename T>
struct Sum {
  using State = Wide<T>;
  static State start() { return 0; }
  static void add(State& state, T value) { state += widen(value); }
  static T finish(State state, std::int64_t) { return narrowed<T>(state); }
};

template <typename T>
struct Mean : Sum<T> {
  static T finish(Wide<T> state, std::int64_t count) {
    if constexpr (kIsInteger<T>) {
      if (count == 0) fail(ErrorCode::kInvalidFile, "the mean of zero integers is undefined");
      if constexpr (std::is_signed_v<T>)
        return static_cast<T>(static_cast<std::int64_t>(state) / count);
      else
        return static_cast<T>(state / static_cast<std::uint64_t>(count));
    } else {
      return narrowed<T>(state / static_cast<double>(count));
    }
  }
};

template <typename T>
struct Product : Sum<T> {
  static Wide<T> start() { return 1; }
  static void add(Wide<T>& state, T value) { state *= widen(value); }
};

template <typename T, bool kGreatest>
struct Extreme {
  using State = Accumulator<T>;
  static State start() {
    using Limits = std::numeric_limits<State>;
    if constexpr (Limits::has_infinity)
      return kGreatest ? -Limits::infinity() : Limits::infinity();
    else
      return kGreatest ? Limits::lowest() : Limits::max();
  }
  static void add(State& state, T value) {
    const auto number = static_cast<State>(value);
    // NaN is propagated.
    if ((kGreatest ? number > state : number < state) || number != number) state = number;
  }
  static T finish(State state, std::int64_t) { return static_cast<T>(state); }
};
template <typename T>
using Greatest = Extreme<T, true>;
template <typename T>
using Least = Extreme<T, false>;

template <typename T>
struct AbsoluteSum : Sum<T> {
  static void add(Wide<T>& state, T value) {
    if constexpr (kIsInteger<T>)
      state += value < T{} ? 0 - widen(value) : widen(value);
    else
      state += std::abs(widen(value));
  }
};

template <typename T>
struct SquareSum : Sum<T> {
  static void add(Wide<T>& state, T value) { state += widen(value) * widen(value); }
};

/// Reductions with a root or a logarithm are computed in float64 for any type.
template <typename T>
struct RealSum {
  using State = double;
  static State start() { return 0; }
  static void add(State& state, T value) { state += static_cast<double>(value); }
  static T cast(double value) {
    if constexpr (kIsInteger<T>) {
      using Limits = std::numeric_limits<T>;
      if (value >= static_cast<double>(Limits::max())) return Limits::max();
      return value > static_cast<double>(Limits::lowest()) ? static_cast<T>(value) : Limits::lowest();
    } else {
      return narrowed<T>(value);
    }
  }
};

template <typename T>
struct Root : RealSum<T> {
  static void add(double& state, T value) { state += static_cast<double>(value) * static_cast<double>(value); }
  static T finish(double state, std::int64_t) { return RealSum<T>::cast(std::sqrt(state)); }
};

template <typename T>
struct LogSum : RealSum<T> {
  static T finish(double state, std::int64_t) { return RealSum<T>::cast(std::log(state)); }
};

/// Keeps the maximum and the sum of exponentials relative to it.
template <typename T>
struct LogSumExp {
  struct State {
    double greatest = -std::numeric_limits<double>::infinity();
    double sum = 0;
  };
  static State start() { return {}; }
  static void add(State& state, T value) {
    const auto number = static_cast<double>(value);
    if (number == state.greatest) {
      state.sum += 1;  // for infinities too, whose difference is NaN
    } else if (number > state.greatest) {
      state.sum = state.sum * std::exp(state.greatest - number) + 1;
      state.greatest = number;
    } else {
      state.sum += std::exp(number - state.greatest);
    }
  }
  static T finish(State state, std::int64_t) { return RealSum<T>::cast(state.greatest + std::log(state.sum)); }
};

/// Maximum and minimum of bools, which are read as bytes: a model file may contain others than 0 and 1.
template <typename T>
struct Any {
  using State = T;
  static State start() { return 0; }
  static void add(State& state, T value) { state |= static_cast<T>(value != 0); }
  static T finish(State state, std::int64_t) { return state; }
};
template <typename T>
struct All : Any<T> {
  static T start() { return 1; }
  static void add(T& state, T value) { state &= static_cast<T>(value != 0); }
};

/// Visits the input in order and accumulates every element into its output's state.
template <typename T, template <typename> typename Rule>
void reduce(const KernelContext& context, const Reduction& reduction) {
  using R = Rule<T>;
  const Shape& shape = context.input(0).shape;
  const std::span input(static_cast<const T*>(context.input(0).data), static_cast<std::size_t>(shape.elements()));
  const std::span output(static_cast<T*>(context.output().data), static_cast<std::size_t>(context.output().elements()));
  if (output.empty()) return;
  std::vector<typename R::State> states(output.size(), R::start());
  // Strides of the output; 0 along reduced axes.
  Shape steps = dense_strides(reduction.kept);
  for (int i = 0; i < shape.rank(); ++i)
    if (reduction.kept[i] != shape[i]) steps[i] = 0;
  Shape index = Shape::filled(shape.rank(), 0);
  const int last = shape.rank() - 1;
  const std::int64_t run = shape.rank() == 0 ? 1 : shape[last];
  const std::int64_t step = shape.rank() == 0 ? 0 : steps[last];
  std::int64_t to = 0;
  for (std::size_t at = 0; at < input.size();) {
    for (std::int64_t i = 0; i < run; ++i) R::add(states[static_cast<std::size_t>(to + i * step)], input[at++]);
    for (int axis = last - 1; axis >= 0; --axis) {
      to += steps[axis];
      if (++index[axis] < shape[axis]) break;
      to -= steps[axis] * shape[axis];
      index[axis] = 0;
    }
  }
  std::int64_t count = 1;
  for (int i = 0; i < shape.rank(); ++i)
    if (reduction.kept[i] != shape[i]) count *= shape[i];
  for (std::size_t i = 0; i < output.size(); ++i) output[i] = R::finish(states[i], count);
}

Reduction reduction_of(const KernelContext& context) {
  const auto axes = context.has(1) ? integers_of(context.input(1)) : std::vector<std::int64_t>{};
  return reduction_of(context.attributes(), context.input(0).shape, axes);
}

template <template <typename> typename Rule>
void reference_reduce(const KernelContext& context) {
  const Reduction reduction = reduction_of(context);
  with_number(context.input(0).dtype, [&]<typename T>(std::type_identity<T>) { reduce<T, Rule>(context, reduction); });
}

/// The same, with another rule for bools.
template <template <typename> typename Rule, template <typename> typename OfBools>
void reference_extreme(const KernelContext& context) {
  if (context.input(0).dtype != DType::kBool) return reference_reduce<Rule>(context);
  reduce<std::uint8_t, OfBools>(context, reduction_of(context));
}

constexpr OpTraits kNarrowedReduction{.arity = {1, 2}, .float_inputs = 1, .cost = {.per = CostPer::kInput}};
constexpr OpTraits kWideReduction{.arity = {1, 2}, .cost = {.per = CostPer::kInput}};

constexpr Op kReduceOps[] = {
    {"", "ReduceSum", infer_reduce, reference_reduce<Sum>, kNarrowedReduction},
    {"", "ReduceMean", infer_reduce, reference_reduce<Mean>, kNarrowedReduction},
    {"", "ReduceMax", infer_extreme, reference_extreme<Greatest, Any>, kNarrowedReduction},
    {"", "ReduceMin", infer_extreme, reference_extreme<Least, All>, kNarrowedReduction},
    {"", "ReduceProd", infer_reduce, reference_reduce<Product>, kWideReduction},
    {"", "ReduceL1", infer_reduce, reference_reduce<AbsoluteSum>, kWideReduction},
    {"", "ReduceL2", infer_reduce, reference_reduce<Root>, kWideReduction},
    {"", "ReduceSumSquare", infer_reduce, reference_reduce<SquareSum>, kWideReduction},
    {"", "ReduceLogSum", infer_reduce, reference_reduce<LogSum>, kWideReduction},
    {"", "ReduceLogSumExp", infer_reduce, reference_reduce<LogSumExp>, kWideReduction},
};

}  // namespace

std::span<const Op> reduce_ops() { return kReduceOps; }

}  // namespace saccade
