#include <algorithm>

#include "ops/core/index.hpp"
#include "ops/core/strided_copy.hpp"
#include "ops/core/values.hpp"

// Concat and Split: copies of blocks along an axis.
namespace saccade {
namespace {

void infer_concat(InferContext& context) {
  if (!context.attributes().has("axis")) fail(ErrorCode::kInvalidFile, "Concat's axis is missing");
  Shape to = context.shape(0);
  const int axis = axis_of(context.attributes(), to);
  for (int i = 1; i < context.input_count(); ++i) {
    Shape from = context.shape(i);
    const std::int64_t added = axis < from.rank() ? std::exchange(from[axis], to[axis]) : 0;
    if (context.dtype(i) != context.dtype(0) || from != to)
      fail(ErrorCode::kInvalidFile, "Concat can't join {} {} to {} {} along axis {}", to_string(context.dtype(i)),
           context.shape(i).to_string(), to_string(context.dtype(0)), context.shape(0).to_string(), axis);
    to[axis] = checked_add(to[axis], added);
  }
  context.output(0, context.dtype(0), to);
}

void concat(const KernelContext& context) {
  const TensorView& to = context.output();
  const int axis = axis_of(context.attributes(), to.shape);
  Strided target = strided(to);
  for (int i = 0; i < context.input_count(); ++i) {
    const TensorView& from = context.input(i);
    strided_copy(to.dtype, from.shape, strided(from), target);
    target.offset += from.shape[axis] * target.strides[axis];
  }
}

/// Sizes along the axis: given, or equal parts of which the last may be smaller.
std::vector<std::int64_t> split_sizes(InferContext& context, std::int64_t dim) {
  const std::int64_t parts = context.output_count();
  if (context.has(1)) {
    auto sizes = context.integers(1, "Split's sizes");
    std::int64_t sum = 0;
    for (std::int64_t size : sizes) {
      if (size < 0) fail(ErrorCode::kInvalidFile, "Split has a part of size {}", size);
      sum = checked_add(sum, size);
    }
    if (sum != dim || static_cast<std::int64_t>(sizes.size()) != parts)
      fail(ErrorCode::kInvalidFile, "Split can't make {} outputs of sizes {} out of {}", parts, fmt::join(sizes, ", "),
           dim);
    return sizes;
  }
  if (context.attributes().integer("num_outputs", parts) != parts)
    fail(ErrorCode::kInvalidFile, "Split has {} outputs but num_outputs {}", parts,
         context.attributes().integer("num_outputs", parts));
  const std::int64_t part = dim / parts + (dim % parts != 0 ? 1 : 0);
  std::vector<std::int64_t> sizes;
  for (std::int64_t left = dim, i = 0; i < parts; left -= sizes.back(), ++i) sizes.push_back(std::min(part, left));
  return sizes;
}

void infer_split(InferContext& context) {
  Shape part = context.shape(0);
  const int axis = axis_of(context.attributes(), part);
  const auto sizes = split_sizes(context, part[axis]);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    part[axis] = sizes[i];
    context.output(static_cast<int>(i), context.dtype(0), part);
  }
}

/// A part's start follows from the sizes of its predecessors, including outputs that are not requested.
std::int64_t part_size(const KernelContext& context, int part, int axis) {
  if (context.wants(part)) return context.output(part).shape[axis];
  if (context.has(1)) return integers_of(context.input(1)).at(static_cast<std::size_t>(part));
  const std::int64_t parts = context.output_count();
  const std::int64_t dim = context.input(0).shape[axis];
  return dim / parts + (dim % parts != 0 ? 1 : 0);
}

void split(const KernelContext& context) {
  const TensorView& from = context.input(0);
  const int axis = axis_of(context.attributes(), from.shape);
  Strided source = strided(from);
  for (int i = 0; i < context.output_count(); ++i) {
    if (context.wants(i)) {
      const TensorView& to = context.output(i);
      strided_copy(to.dtype, to.shape, source, strided(to));
    }
    source.offset += part_size(context, i, axis) * source.strides[axis];
  }
}

constexpr OpTraits kConcatTraits{.arity = {1, kAnyNumber},
                                 .movement = Movement::kRearrange,
                                 .layout_agnostic = true,
                                 .float_inputs = kAnyNumber,
                                 .cost = {.per = CostPer::kNothing}};
constexpr OpTraits kSplitTraits{.arity = {1, 2},
                                .movement = Movement::kRearrange,
                                .layout_agnostic = true,
                                .identity_when_alike = true,
                                .float_inputs = 1,
                                .cost = {.per = CostPer::kNothing}};

constexpr Op kConcatOps[] = {{"", "Concat", infer_concat, concat, kConcatTraits},
                             {"", "Split", infer_split, split, kSplitTraits}};

}  // namespace

std::span<const Op> concat_ops() { return kConcatOps; }

}  // namespace saccade
