#include "ops/movement/slice.hpp"

#include <algorithm>

#include "ops/core/op.hpp"
#include "ops/core/strided_copy.hpp"

namespace saccade {
namespace {

/// Counts negative positions from the end and clamps to the range reachable in the step's direction.
SliceRange clamp_range(std::int64_t dim, std::int64_t start, std::int64_t end, std::int64_t step) {
  if (step == 0) fail(ErrorCode::kInvalidFile, "Slice has a step of 0");
  // A step of the dimension's size or more selects the first element only.
  const std::int64_t longest = std::max<std::int64_t>(dim, 1);
  step = std::clamp(step, -longest, longest);
  if (start < 0) start += dim;
  if (end < 0) end += dim;
  if (step > 0) {
    start = std::clamp<std::int64_t>(start, 0, dim);
    end = std::clamp<std::int64_t>(end, 0, dim);
    return {start, step, end > start ? (end - start - 1) / step + 1 : 0};
  }
  if (dim == 0) return {0, step, 0};
  start = std::clamp<std::int64_t>(start, 0, dim - 1);  // ONNX's rule; NumPy allows -1 here
  end = std::clamp<std::int64_t>(end, -1, dim - 1);
  return {start, step, start > end ? (start - end - 1) / -step + 1 : 0};
}

}  // namespace

SliceRanges slice_ranges(const Shape& shape, const Indices& starts, const Indices& ends, const Indices& axes,
                         const Indices& steps) {
  const std::size_t count = starts.size();
  if (ends.size() != count || (!axes.empty() && axes.size() != count) || (!steps.empty() && steps.size() != count))
    fail(ErrorCode::kInvalidFile, "Slice has {} starts, {} ends, {} axes and {} steps", count, ends.size(), axes.size(),
         steps.size());
  SliceRanges all;
  std::array<bool, Shape::kMaxRank> sliced{};
  for (int i = 0; i < shape.rank(); ++i) all[static_cast<std::size_t>(i)] = {0, 1, shape[i]};
  for (std::size_t i = 0; i < count; ++i) {
    const int axis = InferContext::axis(axes.empty() ? static_cast<std::int64_t>(i) : axes[i], shape.rank());
    const auto at = static_cast<std::size_t>(axis);
    if (axis >= shape.rank() || sliced[at]) fail(ErrorCode::kInvalidFile, "Slice can't slice axis {} (again)", axis);
    sliced[at] = true;
    all[at] = clamp_range(shape[axis], starts[i], ends[i], steps.empty() ? 1 : steps[i]);
  }
  return all;
}

std::optional<SliceRanges> slice_ranges(const Graph& graph, const Node& node) {
  std::array<Indices, 4> lists;  // starts, ends, axes, steps
  for (std::size_t i = 1; i < std::min(node.inputs.size(), 1 + lists.size()); ++i) {
    if (node.inputs[i] == ValueId::kNone) continue;
    const Tensor* constant = graph.constant(node.inputs[i]);
    if (constant == nullptr) return std::nullopt;
    lists[i - 1] = Indices(view_of(*constant));
  }
  return slice_ranges(graph.value(node.inputs[0]).type.shape, lists[0], lists[1], lists[2], lists[3]);
}

namespace {

void infer_slice(InferContext& context) {
  const auto starts = context.integers(1, "Slice's starts");
  const auto ends = context.integers(2, "Slice's ends");
  const auto axes = context.has(3) ? context.integers(3, "Slice's axes") : std::vector<std::int64_t>{};
  const auto steps = context.has(4) ? context.integers(4, "Slice's steps") : std::vector<std::int64_t>{};
  Shape to = context.shape(0);
  const SliceRanges all = slice_ranges(to, Indices(starts), Indices(ends), Indices(axes), Indices(steps));
  for (int i = 0; i < to.rank(); ++i) to[i] = all[static_cast<std::size_t>(i)].count;
  context.output(0, context.dtype(0), to);
}

void slice(const KernelContext& context) {
  const TensorView& from = context.input(0);
  const TensorView& to = context.output();
  const auto optional = [&](int i) { return context.has(i) ? Indices(context.input(i)) : Indices(); };
  const SliceRanges all = slice_ranges(from.shape, optional(1), optional(2), optional(3), optional(4));
  Strided source = strided(from);
  for (int i = 0; i < from.shape.rank(); ++i) {
    const SliceRange& range = all[static_cast<std::size_t>(i)];
    source.offset += range.start * source.strides[i];
    source.strides[i] *= range.step;
  }
  strided_copy(to.dtype, to.shape, source, strided(to));
}

constexpr OpTraits kSliceTraits{.arity = {3, 5},
                                .movement = Movement::kRearrange,
                                .layout_agnostic = true,
                                .float_inputs = 1,
                                .cost = {.per = CostPer::kNothing}};

constexpr Op kSliceOps[] = {{"", "Slice", infer_slice, slice, kSliceTraits}};

}  // namespace

std::span<const Op> slice_ops() { return kSliceOps; }

}  // namespace saccade
