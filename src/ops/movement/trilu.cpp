#include <algorithm>

#include "ops/core/op.hpp"
#include "ops/core/strided_copy.hpp"
#include "ops/core/values.hpp"

namespace saccade {
namespace {

void infer_trilu(InferContext& context) {
  if (context.shape(0).rank() < 2)
    fail(ErrorCode::kInvalidFile, "Trilu takes matrices, not {}", context.shape(0).to_string());
  if (context.has(1) && (context.dtype(1) != DType::kInt64 || context.shape(1).elements() != 1))
    fail(ErrorCode::kInvalidFile, "Trilu's diagonal must be one int64");
  context.output(0, context.dtype(0), context.shape(0));
}

/// Copies the columns on one side of the diagonal; the others become zero.
void trilu(const KernelContext& context) {
  const TensorView& from = context.input(0);
  const TensorView& to = context.output();
  const bool upper = context.attributes().integer("upper", 1) != 0;
  const int rank = to.shape.rank();
  const std::int64_t rows = to.shape[rank - 2];
  const std::int64_t columns = to.shape[rank - 1];
  if (to.elements() == 0) return;
  // A diagonal outside the matrix is equivalent to one at its edge, so clamping changes nothing.
  const std::int64_t k = context.has(1) ? std::clamp(Indices(context.input(1))[0], -rows, columns) : 0;
  const std::int64_t matrices = to.elements() / (rows * columns);
  fill_with_zero(to);
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t split = std::clamp<std::int64_t>(row + k + (upper ? 0 : 1), 0, columns);
    const std::int64_t first = row * columns + (upper ? split : 0);
    const Shape strides{rows * columns, 1};
    strided_copy(to.dtype, {matrices, upper ? columns - split : split}, {from.data, first, strides},
                 {to.data, first, strides});
  }
}

constexpr Op kTriluOps[] = {{"", "Trilu", infer_trilu, trilu, {.arity = {1, 2}, .cost = {.per = CostPer::kNothing}}}};

}  // namespace

std::span<const Op> trilu_ops() { return kTriluOps; }

}  // namespace saccade
