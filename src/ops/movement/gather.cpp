#include "ops/core/index.hpp"
#include "ops/core/strided.hpp"
#include "ops/core/strided_copy.hpp"
#include "ops/core/values.hpp"

// Gather, GatherElements and GatherND: elements or blocks selected by index.
namespace saccade {
namespace {

void infer_gather(InferContext& context) {
  check_indices(context, 1);
  const Shape& from = context.shape(0);
  const int axis = axis_of(context.attributes(), from);
  Shape to;
  for (int i = 0; i < axis; ++i) to.push_back(from[i]);
  for (std::int64_t dim : context.shape(1)) to.push_back(dim);
  for (int i = axis + 1; i < from.rank(); ++i) to.push_back(from[i]);
  context.output(0, context.dtype(0), to);
}

/// Every index copies a block of [dimensions before the axis, dimensions after it].
void gather(const KernelContext& context) {
  const TensorView& from = context.input(0);
  const TensorView& to = context.output();
  const int axis = axis_of(context.attributes(), from.shape);
  const Shape dense = from.strides();
  const std::int64_t inner = dense[axis];
  const Indices indices(context.input(1));
  const auto count = static_cast<std::int64_t>(indices.size());
  std::int64_t outer = 1;
  for (int i = 0; i < axis; ++i) outer *= from.shape[i];
  Strided source{from.data, 0, {inner * from.shape[axis], 1}};
  Strided target{to.data, 0, {inner * count, 1}};
  for (std::int64_t i = 0; i < count; ++i) {
    source.offset = checked_index(indices[static_cast<std::size_t>(i)], from.shape[axis]) * inner;
    target.offset = i * inner;
    strided_copy(to.dtype, {outer, inner}, source, target);
  }
}

void infer_gather_elements(InferContext& context) {
  check_indices(context, 1);
  const Shape& from = context.shape(0);
  const Shape& to = context.shape(1);
  const int axis = axis_of(context.attributes(), from);
  bool fits = to.rank() == from.rank();
  for (int i = 0; fits && i < to.rank(); ++i) fits = i == axis || to[i] <= from[i];
  if (!fits)
    fail(ErrorCode::kInvalidFile, "GatherElements can't take indices of shape {} from {}", to.to_string(),
         from.to_string());
  context.output(0, context.dtype(0), to);
}

void gather_elements(const KernelContext& context) {
  const TensorView& from = context.input(0);
  const TensorView& to = context.output();
  const int axis = axis_of(context.attributes(), from.shape);
  const Indices indices(context.input(1));
  Shape strides = from.strides();
  const std::int64_t stride = std::exchange(strides[axis], 0);
  const StridedLoop<2> loop(to.shape, {strides, to.strides()});
  loop.run({}, [&](const auto& at, std::int64_t count, const auto& step) {
    for (std::int64_t k = 0; k < count; ++k) {
      const std::int64_t i = at[1] + k * step[1];
      const std::int64_t index = checked_index(indices[static_cast<std::size_t>(i)], from.shape[axis]);
      strided_copy(to.dtype, {}, {from.data, at[0] + k * step[0] + index * stride, {}}, {to.data, i, {}});
    }
  });
}

int batch_dims(const Attributes& attributes, const Shape& from, const Shape& indices) {
  const std::int64_t dims = attributes.integer("batch_dims", 0);
  const std::int64_t most = std::min(from.rank(), indices.rank());
  if (dims < 0 || dims >= std::max<std::int64_t>(most, 1))
    fail(ErrorCode::kInvalidFile, "GatherND has {} batch dimensions of {}", dims, most);
  for (int i = 0; i < dims; ++i)
    if (from[i] != indices[i])
      fail(ErrorCode::kInvalidFile, "GatherND's batch dimension {} is {} in the data and {} in the indices", i, from[i],
           indices[i]);
  return static_cast<int>(dims);
}

void infer_gather_nd(InferContext& context) {
  check_indices(context, 1);
  const Shape& from = context.shape(0);
  const Shape& indices = context.shape(1);
  if (indices.rank() == 0) fail(ErrorCode::kInvalidFile, "GatherND's indices are a scalar");
  const int batch = batch_dims(context.attributes(), from, indices);
  if (indices.back() < 0 || indices.back() > from.rank() - batch)
    fail(ErrorCode::kInvalidFile, "GatherND can't take {} indices into {}", indices.back(), from.to_string());
  Shape to;
  for (int i = 0; i + 1 < indices.rank(); ++i) to.push_back(indices[i]);
  for (int i = batch + static_cast<int>(indices.back()); i < from.rank(); ++i) to.push_back(from[i]);
  context.output(0, context.dtype(0), to);
}

void gather_nd(const KernelContext& context) {
  const TensorView& from = context.input(0);
  const TensorView& to = context.output();
  const Shape& shape = context.input(1).shape;
  const Indices indices(context.input(1));
  const int batch = batch_dims(context.attributes(), from.shape, shape);
  const std::int64_t depth = shape.back();
  const Shape strides = from.strides();
  std::int64_t batches = 1;
  for (int i = 0; i < batch; ++i) batches *= shape[i];
  std::int64_t tuples = 1;
  for (int i = 0; i + 1 < shape.rank(); ++i) tuples *= shape[i];
  if (tuples == 0) return;
  std::int64_t block = 1;
  for (int i = batch + static_cast<int>(depth); i < from.shape.rank(); ++i) block *= from.shape[i];
  const std::int64_t in_batch = batch == 0 ? 0 : strides[batch - 1];
  for (std::int64_t i = 0; i < tuples; ++i) {
    std::int64_t offset = i / (tuples / batches) * in_batch;
    for (std::int64_t d = 0; d < depth; ++d) {
      const int axis = batch + static_cast<int>(d);
      offset += checked_index(indices[static_cast<std::size_t>(i * depth + d)], from.shape[axis]) * strides[axis];
    }
    strided_copy(to.dtype, {block}, {from.data, offset, {1}}, {to.data, i * block, {1}});
  }
}

constexpr Op kGatherOps[] = {
    {"", "Gather", infer_gather, gather, OpTraits::rearrange({2, 2}, Reads::kIndexed)},
    {"", "GatherElements", infer_gather_elements, gather_elements, OpTraits::rearrange({2, 2}, Reads::kIndexed)},
    {"", "GatherND", infer_gather_nd, gather_nd, OpTraits::rearrange({2, 2}, Reads::kIndexed)},
};

}  // namespace

std::span<const Op> gather_ops() { return kGatherOps; }

}  // namespace saccade
