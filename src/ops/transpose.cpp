#include "ops/op.hpp"
#include "ops/strided_copy.hpp"

namespace saccade {
namespace {

/// Output dimension i is input dimension perm[i]; reversed dimensions where the attribute is missing.
std::vector<int> permutation(const Attributes& attributes, int rank) {
  std::vector<int> perm;
  if (!attributes.has("perm")) {
    for (int i = rank - 1; i >= 0; --i) perm.push_back(i);
    return perm;
  }
  std::vector<bool> seen(static_cast<std::size_t>(rank), false);
  for (std::int64_t axis : attributes.integers("perm")) {
    if (axis < 0 || axis >= rank || seen[static_cast<std::size_t>(axis)])
      fail(ErrorCode::kInvalidFile, "perm is not a permutation of {} dimensions", rank);
    seen[static_cast<std::size_t>(axis)] = true;
    perm.push_back(static_cast<int>(axis));
  }
  if (static_cast<int>(perm.size()) != rank)
    fail(ErrorCode::kInvalidFile, "perm names {} dimensions of {}", perm.size(), rank);
  return perm;
}

void infer_transpose(InferContext& context) {
  const Shape& from = context.shape(0);
  Shape to;
  for (int axis : permutation(context.attributes(), from.rank())) to.push_back(from[axis]);
  context.output(0, context.dtype(0), to);
}

void transpose(const KernelContext& context) {
  const TensorView& from = context.input(0);
  const TensorView& to = context.output();
  const Shape dense = from.strides();
  Strided source{from.data, 0, {}};
  for (int axis : permutation(context.attributes(), from.shape.rank())) source.strides.push_back(dense[axis]);
  strided_copy(to.dtype, to.shape, source, strided(to));
}

constexpr Op kOps[] = {{"", "Transpose", infer_transpose, transpose}};

}  // namespace

std::span<const Op> transpose_ops() { return kOps; }

}  // namespace saccade
