#include "ops/core/broadcast.hpp"
#include "ops/core/op.hpp"
#include "ops/core/strided.hpp"
#include "ops/core/strided_copy.hpp"

namespace saccade {
namespace {

void infer_where(InferContext& context) {
  if (context.dtype(0) != DType::kBool)
    fail(ErrorCode::kInvalidFile, "Where's condition is {}, not bool", to_string(context.dtype(0)));
  if (context.dtype(1) != context.dtype(2))
    fail(ErrorCode::kInvalidFile, "Where chooses between {} and {}", to_string(context.dtype(1)),
         to_string(context.dtype(2)));
  context.output(0, context.dtype(1),
                 broadcast_shape(broadcast_shape(context.shape(0), context.shape(1)), context.shape(2)));
}

/// Copies runs of equal conditions from one side, which works for any element type.
void where(const KernelContext& context) {
  const TensorView& to = context.output();
  const auto strides = [&](int i) { return broadcast_strides(context.input(i).shape, to.shape); };
  // As bytes: a model file may contain other bools than 0 and 1.
  const auto* condition = static_cast<const std::uint8_t*>(context.input(0).data);
  const StridedLoop<4> loop(to.shape, {strides(0), strides(1), strides(2), to.strides()});
  loop.run({}, [&](const auto& at, std::int64_t count, const auto& step) {
    for (std::int64_t k = 0; k < count;) {
      const bool taken = condition[at[0] + k * step[0]] != 0;
      std::int64_t end = k + 1;
      while (end < count && (condition[at[0] + end * step[0]] != 0) == taken) ++end;
      const std::size_t side = taken ? 1 : 2;
      strided_copy(to.dtype, {end - k},
                   {context.input(static_cast<int>(side)).data, at[side] + k * step[side], {step[side]}},
                   {to.data, at[3] + k * step[3], {step[3]}});
      k = end;
    }
  });
}

constexpr OpTraits kWhereTraits{.arity = {3, 3},
                                .elementwise = Elementwise::kBroadcast,
                                .movement = Movement::kSelect,
                                .layout_agnostic = true,
                                .float_inputs = kAnyNumber,
                                .cost = {.per = CostPer::kNothing}};

constexpr Op kWhereOps[] = {{"", "Where", infer_where, where, kWhereTraits}};

}  // namespace

std::span<const Op> where_ops() { return kWhereOps; }

}  // namespace saccade
