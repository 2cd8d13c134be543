#include "ops/core/broadcast.hpp"
#include "ops/core/op.hpp"
#include "ops/core/strided_copy.hpp"
#include "ops/core/values.hpp"

// Expand and Tile: a tensor's elements, repeated.
namespace saccade {
namespace {

void infer_expand(InferContext& context) {
  const auto wanted = context.integers(1, "Expand's shape");
  context.output(0, context.dtype(0), broadcast_shape(context.shape(0), Shape(wanted)));
}

void expand(const KernelContext& context) {
  const TensorView& from = context.input(0);
  const TensorView& to = context.output();
  strided_copy(to.dtype, to.shape, {from.data, 0, broadcast_strides(from.shape, to.shape)}, strided(to));
}

void infer_tile(InferContext& context) {
  const auto repeats = context.integers(1, "Tile's repeats");
  Shape to = context.shape(0);
  if (static_cast<int>(repeats.size()) != to.rank())
    fail(ErrorCode::kInvalidFile, "Tile has {} repeats for {} dimensions", repeats.size(), to.rank());
  for (int i = 0; i < to.rank(); ++i) to[i] = checked_multiply(to[i], repeats[static_cast<std::size_t>(i)]);
  context.output(0, context.dtype(0), to);
}

/// Copies the input to the output's first corner, then repeats that block along one dimension after the other.
void tile(const KernelContext& context) {
  const TensorView& to = context.output();
  if (to.elements() == 0) return;
  Shape block = context.input(0).shape;
  strided_copy(to.dtype, block, strided(context.input(0)), strided(to));
  for (int axis = to.shape.rank() - 1; axis >= 0; --axis) {
    Strided target = strided(to);
    const std::int64_t step = block[axis] * target.strides[axis];
    for (std::int64_t done = block[axis]; done < to.shape[axis]; done += block[axis]) {
      target.offset += step;
      strided_copy(to.dtype, block, strided(to), target);
    }
    block[axis] = to.shape[axis];
  }
}

// With equal shapes there is nothing to repeat.
constexpr OpTraits kRepeats{.arity = {2, 2},
                            .movement = Movement::kRearrange,
                            .layout_agnostic = true,
                            .identity_when_alike = true,
                            .float_inputs = 1,
                            .cost = {.per = CostPer::kNothing}};

constexpr Op kExpandOps[] = {{"", "Expand", infer_expand, expand, kRepeats}, {"", "Tile", infer_tile, tile, kRepeats}};

}  // namespace

std::span<const Op> expand_ops() { return kExpandOps; }

}  // namespace saccade
