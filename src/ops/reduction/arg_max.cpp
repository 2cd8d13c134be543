#include "ops/core/dispatch.hpp"
#include "ops/core/op.hpp"

// ArgMax and ArgMin: the index of the extremum along one axis, as int64.
namespace saccade {
namespace {

void infer_arg(InferContext& context) {
  if (!is_number(context.dtype(0)))
    fail(ErrorCode::kUnsupported, "an input of type {} is not supported", to_string(context.dtype(0)));
  const Shape& input = context.shape(0);
  const int axis = InferContext::axis(context.attributes().integer("axis", 0), input.rank());
  if (input.rank() > 0 && input[axis] == 0)
    fail(ErrorCode::kInvalidFile, "axis {} of {} has nothing to choose from", axis, input.to_string());
  const bool keep = context.attributes().integer("keepdims", 1) != 0;
  Shape output;
  for (int i = 0; i < input.rank(); ++i)
    if (i != axis || keep) output.push_back(i == axis ? 1 : input[i]);
  context.output(0, DType::kInt64, output);
}

/// Whether X replaces Y. NaN replaces every number, in both.
template <bool kGreatest, typename Number>
bool beats(Number x, Number y) {
  return (kGreatest ? x > y : x < y) || (x != x && y == y);
}

/// The index of the extremum of COUNT elements with stride STEP; the first or last of equal ones.
template <typename T, bool kGreatest>
std::int64_t extreme_of(const T* values, std::int64_t count, std::int64_t step, bool last) {
  using Number = Accumulator<T>;
  std::int64_t best = 0;
  for (std::int64_t i = 1; i < count; ++i) {
    const auto value = static_cast<Number>(values[i * step]);
    const auto champion = static_cast<Number>(values[best * step]);
    if (beats<kGreatest>(value, champion) || (last && !beats<kGreatest>(champion, value))) best = i;
  }
  return best;
}

template <bool kGreatest>
void reference_arg(const KernelContext& context) {
  const Shape& shape = context.input(0).shape;
  const auto output = context.out<std::int64_t>();
  if (output.empty()) return;
  const int axis = InferContext::axis(context.attributes().integer("axis", 0), shape.rank());
  const std::int64_t count = shape.rank() == 0 ? 1 : shape[axis];
  std::int64_t inner = 1;
  for (int i = axis + 1; i < shape.rank(); ++i) inner *= shape[i];
  const bool last = context.attributes().integer("select_last_index", 0) != 0;
  with_number(context.input(0).dtype, [&]<typename T>(std::type_identity<T>) {
    const auto input = context.in<T>(0);
    for (std::size_t i = 0; i < output.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      const T* from = input.data() + at / inner * count * inner + at % inner;
      output[i] = extreme_of<T, kGreatest>(from, count, inner, last);
    }
  });
}

constexpr Op kArgMaxOps[] = {
    {"", "ArgMax", infer_arg, reference_arg<true>, {.cost = {.per = CostPer::kInput}}},
    {"", "ArgMin", infer_arg, reference_arg<false>, {.cost = {.per = CostPer::kInput}}},
};

}  // namespace

std::span<const Op> arg_max_ops() { return kArgMaxOps; }

}  // namespace saccade
