#include <algorithm>

#include "ops/core/index.hpp"
#include "ops/core/strided_copy.hpp"
#include "ops/core/values.hpp"
#include "ops/layers/window.hpp"

// MaxUnpool: scatters MaxPool's outputs to their indices, zero elsewhere. Inputs X (N, C, spatial), indices into the
// whole pooled tensor, output_shape (optional): if it is larger than the tensor that the window's attributes give, that
// tensor is placed in its corner.
namespace saccade {
namespace {

/// The shape of the tensor that was pooled, according to the attributes.
Shape pooled_from(const Attributes& attributes, const Shape& input) {
  const auto kernel = attributes.integers("kernel_shape");
  if (kernel.empty()) fail(ErrorCode::kInvalidFile, "MaxUnpool needs the attribute 'kernel_shape'");
  return slide_transposed(attributes, input, kernel).output_shape(input[0], input[1]);
}

void infer_max_unpool(InferContext& context) {
  const Shape& input = context.shape(0);
  if (context.dtype(1) != DType::kInt64 || context.shape(1) != input)
    fail(ErrorCode::kInvalidFile, "the indices are {} {}, not int64 {}", to_string(context.dtype(1)),
         context.shape(1).to_string(), input.to_string());
  const Shape pooled = pooled_from(context.attributes(), input);
  Shape output = pooled;
  if (context.has(2)) {
    const auto wanted = context.integers(2, "its output's shape");
    bool fits = std::ssize(wanted) == pooled.rank();
    for (int i = 0; fits && i < pooled.rank(); ++i) {
      output[i] = wanted[static_cast<std::size_t>(i)];
      fits = i < 2 ? output[i] == pooled[i] : output[i] >= pooled[i];
    }
    if (!fits)
      fail(ErrorCode::kInvalidFile, "output_shape [{}] can't hold {}", fmt::join(wanted, ", "), pooled.to_string());
  }
  context.output(0, context.dtype(0), output);
}

void reference_max_unpool(const KernelContext& context) {
  const TensorView& from = context.input(0);
  const TensorView& to = context.output();
  const Shape pooled = pooled_from(context.attributes(), from.shape);
  const Shape dense = dense_strides(pooled);
  const Shape strides = to.strides();
  const std::int64_t elements = pooled.elements();
  fill_with_zero(to);
  const Indices indices(context.input(1));
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const std::int64_t index = checked_index(indices[i], elements);
    std::int64_t offset = 0;
    for (int axis = 0; axis < pooled.rank(); ++axis) offset += index / dense[axis] % pooled[axis] * strides[axis];
    strided_copy(to.dtype, {}, {from.data, static_cast<std::int64_t>(i), {}}, {to.data, offset, {}});
  }
}

constexpr Op kMaxUnpoolOps[] = {
    {"", "MaxUnpool", infer_max_unpool, reference_max_unpool, {.arity = {2, 3}, .cost = {.per = CostPer::kNothing}}}};

}  // namespace

std::span<const Op> max_unpool_ops() { return kMaxUnpoolOps; }

}  // namespace saccade
