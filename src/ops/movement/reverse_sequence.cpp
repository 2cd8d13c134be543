#include "ops/core/op.hpp"
#include "ops/core/strided_copy.hpp"
#include "ops/core/values.hpp"

namespace saccade {
namespace {

/// The time and batch dimensions: 0 and 1 in either order.
struct Axes {
  int time;
  int batch;
};

Axes axes_of(const Attributes& attributes) {
  const std::int64_t time = attributes.integer("time_axis", 0);
  const std::int64_t batch = attributes.integer("batch_axis", 1);
  if (time < 0 || time > 1 || batch != 1 - time)
    fail(ErrorCode::kInvalidFile, "ReverseSequence has time_axis {} and batch_axis {}", time, batch);
  return {static_cast<int>(time), static_cast<int>(batch)};
}

void infer_reverse_sequence(InferContext& context) {
  const Shape& from = context.shape(0);
  const Axes axes = axes_of(context.attributes());
  if (from.rank() < 2 || context.dtype(1) != DType::kInt64 || context.shape(1) != Shape{from[axes.batch]})
    fail(ErrorCode::kInvalidFile, "ReverseSequence can't reverse {} by lengths of {} {}", from.to_string(),
         to_string(context.dtype(1)), context.shape(1).to_string());
  context.output(0, context.dtype(0), from);
}

/// Each sequence is two blocks: its first elements reversed, the rest copied.
void reverse_sequence(const KernelContext& context) {
  const TensorView& from = context.input(0);
  const TensorView& to = context.output();
  const Axes axes = axes_of(context.attributes());
  const auto lengths = integers_of(context.input(1));
  const std::int64_t steps = to.shape[axes.time];
  const Shape dense = to.strides();
  const std::int64_t time = dense[axes.time];
  const std::int64_t inner = dense[1];
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const std::int64_t length = lengths[i];
    if (length < 0 || length > steps)
      fail(ErrorCode::kInvalidArgument, "a sequence of {} can't be {} long", steps, length);
    const std::int64_t start = static_cast<std::int64_t>(i) * dense[axes.batch];
    if (length > 0)
      strided_copy(to.dtype, {length, inner}, {from.data, start + (length - 1) * time, {-time, 1}},
                   {to.data, start, {time, 1}});
    strided_copy(to.dtype, {steps - length, inner}, {from.data, start + length * time, {time, 1}},
                 {to.data, start + length * time, {time, 1}});
  }
}

constexpr Op kReverseSequenceOps[] = {
    {"", "ReverseSequence", infer_reverse_sequence, reverse_sequence, OpTraits::rearrange({2, 2})}};

}  // namespace

std::span<const Op> reverse_sequence_ops() { return kReverseSequenceOps; }

}  // namespace saccade
