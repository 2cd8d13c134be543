#include <algorithm>

#include "ops/core/op.hpp"

// Shape and Size: known without their input's contents.
namespace saccade {
namespace {

/// The range of dimensions that Shape returns, from start to end (exclusive), both clamped.
std::pair<int, int> dimensions(const Attributes& attributes, int rank) {
  const auto clamp = [&](std::int64_t at) {
    return static_cast<int>(std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank));
  };
  const int start = clamp(attributes.integer("start", 0));
  return {start, std::max(start, clamp(attributes.integer("end", rank)))};
}

void infer_shape_of(InferContext& context) {
  const auto [start, end] = dimensions(context.attributes(), context.shape(0).rank());
  context.output(0, DType::kInt64, {end - start});
}

void shape(const KernelContext& context) {
  const Shape& from = context.input(0).shape;
  const auto [start, end] = dimensions(context.attributes(), from.rank());
  std::copy(from.begin() + start, from.begin() + end, context.out<std::int64_t>().begin());
}

void infer_size(InferContext& context) {
  context.input(0);
  context.output(0, DType::kInt64, {});
}

void size(const KernelContext& context) { context.out<std::int64_t>()[0] = context.input(0).elements(); }

constexpr Op kShapeOfOps[] = {
    {"", "Shape", infer_shape_of, shape, {.cost = {.per = CostPer::kNothing}, .reads = Reads::kShape}},
    {"", "Size", infer_size, size, {.cost = {.per = CostPer::kNothing}, .reads = Reads::kShape}}};

}  // namespace

std::span<const Op> shape_of_ops() { return kShapeOfOps; }

}  // namespace saccade
