#include <cmath>
#include <vector>

#include "ops/core/dispatch.hpp"
#include "ops/core/op.hpp"

// Softmax, LogSoftmax and Hardmax along one axis. Accumulated in float64.
namespace saccade {
namespace {

void infer_softmax(InferContext& context) {
  require_type<float, double, Float16, BFloat16>(context.dtype(0), "an input");
  InferContext::axis(context.attributes().integer("axis", -1), context.shape(0).rank());
  context.output(0, context.dtype(0), context.shape(0));
}

/// One row of COUNT elements with stride STEP.
template <bool kLog>
struct SoftmaxRow {
  template <typename T>
  static void run(const T* from, T* to, std::int64_t count, std::int64_t step) {
    using Number = Accumulator<T>;
    Number highest = from[0];
    for (std::int64_t i = 1; i < count; ++i) highest = std::max(highest, static_cast<Number>(from[i * step]));
    double sum = 0;
    for (std::int64_t i = 0; i < count; ++i) sum += std::exp(static_cast<Number>(from[i * step]) - highest);
    if constexpr (kLog) {
      const auto log_sum = static_cast<Number>(std::log(sum));
      for (std::int64_t i = 0; i < count; ++i)
        to[i * step] = static_cast<T>(static_cast<Number>(from[i * step]) - highest - log_sum);
    } else {
      const auto factor = static_cast<Number>(1 / sum);
      for (std::int64_t i = 0; i < count; ++i)
        to[i * step] = static_cast<T>(std::exp(static_cast<Number>(from[i * step]) - highest) * factor);
    }
  }
};

/// 1 for the first maximum, 0 for the others. NaN is greater than all numbers.
struct HardmaxRow {
  template <typename T>
  static void run(const T* from, T* to, std::int64_t count, std::int64_t step) {
    using Number = Accumulator<T>;
    std::int64_t best = 0;
    for (std::int64_t i = 1; i < count; ++i) {
      const auto number = static_cast<Number>(from[i * step]);
      const auto champion = static_cast<Number>(from[best * step]);
      if (number > champion || (std::isnan(number) && !std::isnan(champion))) best = i;
    }
    for (std::int64_t i = 0; i < count; ++i) to[i * step] = static_cast<T>(static_cast<Number>(i == best ? 1 : 0));
  }
};

template <typename Row>
void run_rows(const KernelContext& context) {
  const Shape& shape = context.input(0).shape;
  if (shape.elements() == 0) return;
  const int axis = InferContext::axis(context.attributes().integer("axis", -1), shape.rank());
  const std::int64_t count = shape.rank() == 0 ? 1 : shape[axis];
  std::int64_t inner = 1;
  for (int i = axis + 1; i < shape.rank(); ++i) inner *= shape[i];
  const std::int64_t outer = shape.elements() / count / inner;
  with_float(context.input(0).dtype, [&]<typename T>(std::type_identity<T>) {
    const T* from = context.in<T>(0).data();
    T* to = context.out<T>().data();
    for (std::int64_t i = 0; i < outer; ++i, from += count * inner, to += count * inner)
      for (std::int64_t j = 0; j < inner; ++j) Row::template run<T>(from + j, to + j, count, inner);
  });
}

// Operations: maximum, difference, exponential, sum.
constexpr OpTraits kSoftmaxTraits{.layout_agnostic = true, .float_inputs = 1, .cost = {.operations = 4}};

constexpr Op kSoftmaxOps[] = {
    {"", "Softmax", infer_softmax, run_rows<SoftmaxRow<false>>, kSoftmaxTraits},
    {"", "LogSoftmax", infer_softmax, run_rows<SoftmaxRow<true>>, {.layout_agnostic = true, .cost = {.operations = 4}}},
    {"", "Hardmax", infer_softmax, run_rows<HardmaxRow>},
};

}  // namespace

std::span<const Op> softmax_ops() { return kSoftmaxOps; }

}  // namespace saccade
