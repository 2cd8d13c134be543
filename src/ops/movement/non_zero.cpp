#include <algorithm>

#include "ops/core/dispatch.hpp"
#include "ops/core/op.hpp"
#include "ops/elementwise/cast.hpp"

// NonZero of contents known when the graph is built: otherwise its size depends on the data, and shapes are static.
namespace saccade {
namespace {

Tensor bools_of(const TensorView& view) {
  Tensor bools(DType::kBool, view.shape);
  cast_elements(view, view_of(bools));
  return bools;
}

void infer_non_zero(InferContext& context) {
  if (!is_number(context.dtype(0)) && context.dtype(0) != DType::kBool)
    fail(ErrorCode::kUnsupported, "NonZero of {} is not supported", to_string(context.dtype(0)));
  const Tensor* known = context.known(0);
  if (known == nullptr)
    fail(ErrorCode::kUnsupported, "the size of its output depends on the data; export the model without it");
  const Tensor bools = bools_of(view_of(*known));
  const auto count = std::ranges::count(bools.data<bool>(), true);
  context.output(0, DType::kInt64, {std::max(context.shape(0).rank(), 1), count});
}

/// Column j of the output is the position of the j-th non-zero element.
void non_zero(const KernelContext& context) {
  const TensorView& from = context.input(0);
  const Tensor bools = bools_of(from);
  const auto values = bools.data<bool>();
  const auto to = context.out<std::int64_t>();
  const Shape shape = from.shape.rank() == 0 ? Shape{1} : from.shape;
  const Shape strides = dense_strides(shape);
  const auto count = static_cast<std::size_t>(context.output().shape[1]);
  std::size_t column = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!values[i]) continue;
    for (int d = 0; d < shape.rank(); ++d)
      to[static_cast<std::size_t>(d) * count + column] = static_cast<std::int64_t>(i) / strides[d] % shape[d];
    ++column;
  }
}

constexpr Op kNonZeroOps[] = {
    {"", "NonZero", infer_non_zero, non_zero, {.cost = {.per = CostPer::kNothing}, .rows = {{{RowCount::By::kData}}}}}};

}  // namespace

std::span<const Op> non_zero_ops() { return kNonZeroOps; }

}  // namespace saccade
