#include "ops/core/arithmetic.hpp"
#include "ops/core/dispatch.hpp"
#include "ops/core/op.hpp"
#include "ops/core/values.hpp"

// CumSum and CumProd: prefix sums and products along an axis.
namespace saccade {
namespace {

void infer_running(InferContext& context) {
  if (!is_number(context.dtype(0)))
    fail(ErrorCode::kUnsupported, "numbers are expected, not {}", to_string(context.dtype(0)));
  if (context.shape(0).rank() == 0 || context.shape(1).elements() != 1)
    fail(ErrorCode::kInvalidFile, "it takes a tensor and one axis, not {} and {}", context.shape(0).to_string(),
         context.shape(1).to_string());
  context.output(0, context.dtype(0), context.shape(0));
}

/// Scans along the axis for every position of the other dimensions, in the accumulator's type. kStart is the neutral
/// element.
template <typename Combine, int kStart>
void run(const KernelContext& context) {
  const TensorView& to = context.output();
  const int axis = InferContext::axis(Indices(context.input(1))[0], to.shape.rank());
  const bool exclusive = context.attributes().integer("exclusive", 0) != 0;
  const bool reverse = context.attributes().integer("reverse", 0) != 0;
  const std::int64_t count = to.shape[axis];
  const std::int64_t inner = to.strides()[axis];
  const std::int64_t lines = count == 0 ? 0 : to.elements() / count;
  with_number(to.dtype, [&]<typename T>(std::type_identity<T>) {
    const auto source = context.in<T>(0);
    const auto target = context.out<T>();
    for (std::int64_t line = 0; line < lines; ++line) {
      const std::int64_t start = line / inner * count * inner + line % inner;
      auto result = static_cast<Accumulator<T>>(kStart);
      for (std::int64_t i = 0; i < count; ++i) {
        const auto at = static_cast<std::size_t>(start + (reverse ? count - 1 - i : i) * inner);
        const Accumulator<T> before = result;
        result = Combine{}(result, static_cast<Accumulator<T>>(source[at]));
        target[at] = static_cast<T>(exclusive ? before : result);
      }
    }
  });
}

constexpr Op kCumSumOps[] = {
    {"", "CumSum", infer_running, run<AddElements, 0>, {.arity = {2, 2}, .cost = {.per = CostPer::kInput}}},
    {"", "CumProd", infer_running, run<MultiplyElements, 1>, {.arity = {2, 2}, .cost = {.per = CostPer::kInput}}},
};

}  // namespace

std::span<const Op> cum_sum_ops() { return kCumSumOps; }

}  // namespace saccade
