#include <algorithm>

#include "ops/core/index.hpp"
#include "ops/core/strided_copy.hpp"
#include "ops/core/values.hpp"

// Pad. A negative pad crops. The borders of the modes that repeat the input are copied within the output, dimension by
// dimension, which makes corners correct.
namespace saccade {
namespace {

struct Border {
  std::int64_t before = 0;
  std::int64_t after = 0;
};

/// One border per dimension. AXES are the dimensions of PADS (begins first, then ends); empty: all.
std::vector<Border> borders(const Shape& shape, const std::vector<std::int64_t>& pads, bool has_axes,
                            const std::vector<std::int64_t>& axes) {
  const std::size_t count = has_axes ? axes.size() : static_cast<std::size_t>(shape.rank());
  if (pads.size() != 2 * count) fail(ErrorCode::kInvalidFile, "Pad has {} pads for {} dimensions", pads.size(), count);
  std::vector<Border> all(static_cast<std::size_t>(shape.rank()));
  for (std::size_t i = 0; i < count; ++i) {
    if (shape.rank() == 0) fail(ErrorCode::kInvalidFile, "Pad can't pad a scalar");
    const int axis = has_axes ? InferContext::axis(axes[i], shape.rank()) : static_cast<int>(i);
    all[static_cast<std::size_t>(axis)] = {pads[i], pads[i + count]};
  }
  return all;
}

void infer_pad(InferContext& context) {
  const Shape& from = context.shape(0);
  const std::string mode = context.attributes().text("mode", "constant");
  if (mode != "constant" && mode != "reflect" && mode != "edge" && mode != "wrap")
    fail(ErrorCode::kInvalidFile, "Pad's mode '{}' is not constant, reflect, edge or wrap", mode);
  if (context.has(2) && (context.dtype(2) != context.dtype(0) || context.shape(2).elements() != 1))
    fail(ErrorCode::kInvalidFile, "Pad's value must be one {}", to_string(context.dtype(0)));
  const auto axes = context.has(3) ? context.integers(3, "Pad's axes") : std::vector<std::int64_t>{};
  const auto all = borders(from, context.integers(1, "Pad's pads"), context.has(3), axes);
  Shape to = from;
  for (int i = 0; i < to.rank(); ++i) {
    const Border& border = all[static_cast<std::size_t>(i)];
    to[i] = checked_add(checked_add(from[i], border.before), border.after);
    const std::int64_t left =
        from[i] + std::min<std::int64_t>(border.before, 0) + std::min<std::int64_t>(border.after, 0);
    if (to[i] < 0 || left < 0)
      fail(ErrorCode::kInvalidFile, "Pad crops more than there is of a dimension of {}", from[i]);
    if (left == 0 && to[i] > 0 && mode != "constant")
      fail(ErrorCode::kInvalidFile, "Pad's mode '{}' has nothing to repeat in an empty dimension", mode);
  }
  context.output(0, context.dtype(0), to);
}

/// The source position in 0 .. count - 1 of the element at AT, which may be outside.
std::int64_t source_of(const std::string& mode, std::int64_t at, std::int64_t count) {
  if (mode == "edge") return std::clamp<std::int64_t>(at, 0, count - 1);
  const std::int64_t period = mode == "wrap" ? count : std::max<std::int64_t>(2 * (count - 1), 1);
  const std::int64_t in_period = (at % period + period) % period;
  return in_period < count ? in_period : period - in_period;
}

/// The part of the input that the output contains: its size and its start in both.
struct Interior {
  Shape extent;
  Shape from;
  Shape to;
};

Interior interior_of(const Shape& shape, const std::vector<Border>& all) {
  Interior interior{shape, Shape::filled(shape.rank(), 0), Shape::filled(shape.rank(), 0)};
  for (int i = 0; i < shape.rank(); ++i) {
    const Border& border = all[static_cast<std::size_t>(i)];
    interior.from[i] = std::max<std::int64_t>(-border.before, 0);
    interior.to[i] = std::max<std::int64_t>(border.before, 0);
    interior.extent[i] -= interior.from[i] + std::max<std::int64_t>(-border.after, 0);
  }
  return interior;
}

std::int64_t offset_of(const Shape& position, const Shape& strides) {
  std::int64_t offset = 0;
  for (int i = 0; i < position.rank(); ++i) offset += position[i] * strides[i];
  return offset;
}

void repeat_borders(const std::string& mode, const TensorView& to, const Interior& interior) {
  const Shape strides = to.strides();
  // The complete part so far: all of the processed dimensions, the interior of the others.
  Shape extent = interior.extent;
  Shape start = interior.to;
  for (int axis = 0; axis < extent.rank(); ++axis) {
    const std::int64_t first = std::exchange(start[axis], 0);
    const std::int64_t count = std::exchange(extent[axis], 1);
    const std::int64_t corner = offset_of(start, strides);
    for (std::int64_t i = 0; i < to.shape[axis]; ++i) {
      const std::int64_t from = first + source_of(mode, i - first, count);
      if (from == i) continue;
      strided_copy(to.dtype, extent, {to.data, corner + from * strides[axis], strides},
                   {to.data, corner + i * strides[axis], strides});
    }
    extent[axis] = to.shape[axis];
  }
}

void pad(const KernelContext& context) {
  const TensorView& from = context.input(0);
  const TensorView& to = context.output();
  if (to.elements() == 0) return;
  const std::string mode = context.attributes().text("mode", "constant");
  const auto axes = context.has(3) ? integers_of(context.input(3)) : std::vector<std::int64_t>{};
  const Interior interior =
      interior_of(from.shape, borders(from.shape, integers_of(context.input(1)), context.has(3), axes));
  if (mode == "constant") context.has(2) ? fill_with(to, context.input(2)) : fill_with_zero(to);
  const Shape source = from.strides();
  const Shape target = to.strides();
  strided_copy(to.dtype, interior.extent, {from.data, offset_of(interior.from, source), source},
               {to.data, offset_of(interior.to, target), target});
  if (mode != "constant") repeat_borders(mode, to, interior);
}

constexpr OpTraits kPadTraits{
    .arity = {2, 4}, .layout_agnostic = true, .float_inputs = kAnyNumber, .cost = {.per = CostPer::kNothing}};

constexpr Op kPadOps[] = {{"", "Pad", infer_pad, pad, kPadTraits}};

}  // namespace

std::span<const Op> pad_ops() { return kPadOps; }

}  // namespace saccade
