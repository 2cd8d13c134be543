#include "ops/core/dispatch.hpp"
#include "ops/core/op.hpp"
#include "ops/core/strided_copy.hpp"
#include "ops/core/values.hpp"
#include "ops/elementwise/cast.hpp"

namespace saccade {
namespace {

void infer_one_hot(InferContext& context) {
  const Shape& indices = context.shape(0);
  if (!is_number(context.dtype(0)) || context.shape(2) != Shape{2})
    fail(ErrorCode::kInvalidFile, "OneHot can't choose among {} values by {}", context.shape(2).to_string(),
         to_string(context.dtype(0)));
  if (context.shape(1).rank() > 1) fail(ErrorCode::kInvalidFile, "OneHot's depth is not a scalar");
  const Tensor* known = context.known(1);
  if (known == nullptr)
    fail(ErrorCode::kUnsupported, "OneHot's depth (input 1) depends on the model's inputs; it must be a constant");
  const double depth = real_of(view_of(*known));
  if (!(depth >= 1 && depth < 0x1p48)) fail(ErrorCode::kInvalidFile, "OneHot has a depth of {}", depth);
  const int axis = InferContext::axis(context.attributes().integer("axis", -1), indices.rank() + 1);
  Shape to;
  for (int i = 0; i < axis; ++i) to.push_back(indices[i]);
  to.push_back(static_cast<std::int64_t>(depth));
  for (int i = axis; i < indices.rank(); ++i) to.push_back(indices[i]);
  context.output(0, context.dtype(2), to);
}

/// Fills with the off value, then sets one element per index; an index outside the depth sets none.
void one_hot(const KernelContext& context) {
  const TensorView& to = context.output();
  const Tensor wide(DType::kInt64, context.input(0).shape);
  cast_elements(context.input(0), view_of(wide));
  strided_copy(to.dtype, to.shape, {context.input(2).data, 0, Shape::filled(to.shape.rank(), 0)}, strided(to));
  const int axis = InferContext::axis(context.attributes().integer("axis", -1), to.shape.rank());
  const std::int64_t depth = to.shape[axis];
  const std::int64_t inner = to.strides()[axis];
  const auto indices = wide.data<std::int64_t>();
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] < -depth || indices[i] >= depth) continue;
    const std::int64_t index = indices[i] < 0 ? indices[i] + depth : indices[i];
    const auto at = static_cast<std::int64_t>(i);
    strided_copy(to.dtype, {}, {context.input(2).data, 1, {}},
                 {to.data, (at / inner * depth + index) * inner + at % inner, {}});
  }
}

constexpr Op kOneHotOps[] = {
    {"", "OneHot", infer_one_hot, one_hot, {.arity = {3, 3}, .cost = {.per = CostPer::kNothing}}}};

}  // namespace

std::span<const Op> one_hot_ops() { return kOneHotOps; }

}  // namespace saccade
