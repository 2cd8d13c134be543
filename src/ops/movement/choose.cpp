#include "ops/core/dispatch.hpp"
#include "ops/core/op.hpp"
#include "ops/core/strided_copy.hpp"

// saccade.Choose: the second input if the first, one bool, is true, else the third; the two may have different shapes.
// It implements an If whose branches yield different sizes, and only runs inside a saccade.Sized, where the condition
// is known when shapes are inferred.
namespace saccade {
namespace {

void infer_choose(InferContext& context) {
  const Tensor* condition = context.known(0);
  if (context.dtype(0) != DType::kBool || context.shape(0).elements() != 1)
    fail(ErrorCode::kInvalidFile, "Choose's condition is {} {}", to_string(context.dtype(0)),
         context.shape(0).to_string());
  if (context.dtype(1) != context.dtype(2))
    fail(ErrorCode::kInvalidFile, "Choose can't choose between {} and {}", to_string(context.dtype(1)),
         to_string(context.dtype(2)));
  if (condition == nullptr && context.shape(1) != context.shape(2))
    fail(ErrorCode::kUnsupported, "its condition decides between {} and {}; it must be known",
         context.shape(1).to_string(), context.shape(2).to_string());
  context.output(0, context.dtype(1), context.shape(condition == nullptr || condition->data<bool>()[0] ? 1 : 2));
}

void choose(const KernelContext& context) {
  const TensorView& chosen = context.input(context.in<bool>(0)[0] ? 1 : 2);
  strided_copy(chosen.dtype, chosen.shape, strided(chosen), strided(context.output()));
}

constexpr OpTraits kChooseTraits{.arity = {3, 3}, .movement = Movement::kSelect, .cost = {.per = CostPer::kNothing}};

constexpr Op kChooseOps[] = {{"saccade", "Choose", infer_choose, choose, kChooseTraits}};

}  // namespace

std::span<const Op> choose_ops() { return kChooseOps; }

}  // namespace saccade
