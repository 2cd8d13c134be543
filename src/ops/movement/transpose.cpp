#include "ops/movement/transpose.hpp"

#include "ops/core/op.hpp"
#include "ops/core/strided_copy.hpp"

namespace saccade {

Shape transpose_order(const Attributes& attributes, int rank) {
  Shape perm;
  const auto* wanted = attributes.find<std::vector<std::int64_t>>("perm");
  if (wanted == nullptr) {
    for (int i = rank - 1; i >= 0; --i) perm.push_back(i);
    return perm;
  }
  Shape seen = Shape::filled(rank, 0);
  for (std::int64_t axis : *wanted) {
    if (axis < 0 || axis >= rank || seen[static_cast<int>(axis)]++ != 0)
      fail(ErrorCode::kInvalidFile, "perm is not a permutation of {} dimensions", rank);
    perm.push_back(axis);
  }
  if (perm.rank() != rank) fail(ErrorCode::kInvalidFile, "perm names {} dimensions of {}", perm.rank(), rank);
  return perm;
}

namespace {

void infer_transpose(InferContext& context) {
  const Shape& from = context.shape(0);
  Shape to;
  for (std::int64_t axis : transpose_order(context.attributes(), from.rank()))
    to.push_back(from[static_cast<int>(axis)]);
  context.output(0, context.dtype(0), to);
}

void transpose(const KernelContext& context) {
  const TensorView& from = context.input(0);
  const TensorView& to = context.output();
  const Shape dense = from.strides();
  Strided source{from.data, 0, {}};
  for (std::int64_t axis : transpose_order(context.attributes(), from.shape.rank()))
    source.strides.push_back(dense[static_cast<int>(axis)]);
  strided_copy(to.dtype, to.shape, source, strided(to));
}

constexpr Op kTransposeOps[] = {{"", "Transpose", infer_transpose, transpose, OpTraits::rearrange()}};

}  // namespace

std::span<const Op> transpose_ops() { return kTransposeOps; }

}  // namespace saccade
