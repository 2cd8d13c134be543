#include "ops/core/copy.hpp"

// saccade.Reorder: a conversion of the memory layout. Only Value::layout of input and output differ, which reference
// kernels do not see: for them it is a copy.
namespace saccade {
namespace {

void infer_reorder(InferContext& context) { context.output(0, context.dtype(0), context.shape(0)); }

constexpr OpTraits kReorderTraits{.movement = Movement::kView,
                                  .layout_agnostic = true,
                                  .identity_when_alike = true,
                                  .cost = {.per = CostPer::kNothing}};

constexpr Op kReorderOps[] = {{"saccade", "Reorder", infer_reorder, copy_elements, kReorderTraits}};

}  // namespace

std::span<const Op> reorder_ops() { return kReorderOps; }

}  // namespace saccade
