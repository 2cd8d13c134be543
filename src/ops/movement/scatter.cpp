#include "ops/core/arithmetic.hpp"
#include "ops/core/dispatch.hpp"
#include "ops/core/index.hpp"
#include "ops/core/strided.hpp"
#include "ops/core/strided_copy.hpp"
#include "ops/core/values.hpp"

// ScatterElements and ScatterND: the data with elements or blocks replaced by, or combined with, updates, in order of
// the updates if indices repeat. TensorScatter: a cache into which new entries are written at an index per image.
namespace saccade {
namespace {

using Combine = void (*)(const TensorView& to, std::int64_t at, const TensorView& updates, std::int64_t from,
                         std::int64_t count);

void replace(const TensorView& to, std::int64_t at, const TensorView& updates, std::int64_t from, std::int64_t count) {
  strided_copy(to.dtype, {count}, {updates.data, from, {1}}, {to.data, at, {1}});
}

template <typename Function>
void combine(const TensorView& to, std::int64_t at, const TensorView& updates, std::int64_t from, std::int64_t count) {
  with_number(to.dtype, [&]<typename T>(std::type_identity<T>) {
    T* target = static_cast<T*>(to.data) + at;
    const T* source = static_cast<const T*>(updates.data) + from;
    for (std::int64_t i = 0; i < count; ++i)
      target[i] =
          static_cast<T>(Function{}(static_cast<Accumulator<T>>(target[i]), static_cast<Accumulator<T>>(source[i])));
  });
}

Combine combine_of(const Attributes& attributes) {
  const std::string reduction = attributes.text("reduction", "none");
  if (reduction == "none") return replace;
  if (reduction == "add") return combine<AddElements>;
  if (reduction == "mul") return combine<MultiplyElements>;
  if (reduction == "max") return combine<MaxElements>;
  if (reduction == "min") return combine<MinElements>;
  fail(ErrorCode::kInvalidFile, "a scatter's reduction '{}' is not none, add, mul, max or min", reduction);
}

void check_updates(const InferContext& context) {
  check_indices(context, 1);
  if (context.dtype(2) != context.dtype(0))
    fail(ErrorCode::kInvalidFile, "{} can't be scattered into {}", to_string(context.dtype(2)),
         to_string(context.dtype(0)));
  if (combine_of(context.attributes()) != replace && !is_number(context.dtype(0)))
    fail(ErrorCode::kUnsupported, "a scatter that reduces {} is not supported", to_string(context.dtype(0)));
}

void copy_data(const KernelContext& context) {
  const TensorView& from = context.input(0);
  const TensorView& to = context.output();
  if (from.data != to.data) strided_copy(to.dtype, to.shape, strided(from), strided(to));
}

void infer_scatter_elements(InferContext& context) {
  check_updates(context);
  const Shape& data = context.shape(0);
  const Shape& indices = context.shape(1);
  const int axis = axis_of(context.attributes(), data);
  bool fits = indices.rank() == data.rank() && indices == context.shape(2);
  for (int i = 0; fits && i < data.rank(); ++i) fits = i == axis || indices[i] <= data[i];
  if (!fits)
    fail(ErrorCode::kInvalidFile, "ScatterElements can't put {} by indices of shape {} into {}",
         context.shape(2).to_string(), indices.to_string(), data.to_string());
  context.output(0, context.dtype(0), data);
}

void scatter_elements(const KernelContext& context) {
  copy_data(context);
  const TensorView& to = context.output();
  const TensorView& updates = context.input(2);
  const Combine put = combine_of(context.attributes());
  const int axis = axis_of(context.attributes(), to.shape);
  const Indices indices(context.input(1));
  Shape strides = to.strides();
  const std::int64_t stride = std::exchange(strides[axis], 0);
  const StridedLoop<2> loop(updates.shape, {strides, updates.strides()});
  loop.run({}, [&](const auto& at, std::int64_t count, const auto& step) {
    for (std::int64_t k = 0; k < count; ++k) {
      const std::int64_t from = at[1] + k * step[1];
      const std::int64_t index = checked_index(indices[static_cast<std::size_t>(from)], to.shape[axis]);
      put(to, at[0] + k * step[0] + index * stride, updates, from, 1);
    }
  });
}

void infer_scatter_nd(InferContext& context) {
  check_updates(context);
  const Shape& data = context.shape(0);
  const Shape& indices = context.shape(1);
  if (indices.rank() == 0 || indices.back() > data.rank())
    fail(ErrorCode::kInvalidFile, "ScatterND can't use indices of shape {} for {}", indices.to_string(),
         data.to_string());
  Shape wanted;
  for (int i = 0; i + 1 < indices.rank(); ++i) wanted.push_back(indices[i]);
  for (int i = static_cast<int>(indices.back()); i < data.rank(); ++i) wanted.push_back(data[i]);
  if (context.shape(2) != wanted)
    fail(ErrorCode::kInvalidFile, "ScatterND's updates have the shape {}, not {}", context.shape(2).to_string(),
         wanted.to_string());
  context.output(0, context.dtype(0), data);
}

void scatter_nd(const KernelContext& context) {
  copy_data(context);
  const TensorView& to = context.output();
  const TensorView& updates = context.input(2);
  if (updates.elements() == 0) return;
  const Combine put = combine_of(context.attributes());
  const Indices indices(context.input(1));
  const std::int64_t depth = context.input(1).shape.back();
  const Shape strides = to.strides();
  std::int64_t block = 1;
  for (int i = static_cast<int>(depth); i < to.shape.rank(); ++i) block *= to.shape[i];
  const std::int64_t tuples = updates.elements() / block;
  for (std::int64_t i = 0; i < tuples; ++i) {
    std::int64_t at = 0;
    for (int d = 0; d < depth; ++d)
      at += checked_index(indices[static_cast<std::size_t>(i * depth + d)], to.shape[d]) * strides[d];
    put(to, at, updates, i * block, block);
  }
}

/// The axis along which a cache grows; the first one is the batch.
int cache_axis(const Attributes& attributes, const Shape& cache) {
  const int axis = InferContext::axis(attributes.integer("axis", -2), cache.rank());
  if (axis == 0) fail(ErrorCode::kInvalidFile, "TensorScatter can't write along the batch dimension (axis 0)");
  return axis;
}

void infer_tensor_scatter(InferContext& context) {
  const Shape& cache = context.shape(0);
  const Shape& update = context.shape(1);
  const std::string mode = context.attributes().text("mode", "linear");
  if (mode != "linear" && mode != "circular")
    fail(ErrorCode::kInvalidFile, "TensorScatter's mode is '{}', not linear or circular", mode);
  const int axis = cache_axis(context.attributes(), cache);
  bool fits = update.rank() == cache.rank() && context.dtype(1) == context.dtype(0);
  for (int i = 0; fits && i < cache.rank(); ++i) fits = i == axis ? update[i] <= cache[i] : update[i] == cache[i];
  if (!fits)
    fail(ErrorCode::kInvalidFile, "TensorScatter can't write {} {} into {} {}", to_string(context.dtype(1)),
         update.to_string(), to_string(context.dtype(0)), cache.to_string());
  if (context.has(2) && (context.dtype(2) != DType::kInt64 || context.shape(2) != Shape{cache[0]}))
    fail(ErrorCode::kInvalidFile, "write_indices are {} {}, not one int64 for each of {} images",
         to_string(context.dtype(2)), context.shape(2).to_string(), cache[0]);
  context.output(0, context.dtype(0), cache);
}

/// The start of COUNT elements written at INDEX into LENGTH elements.
std::int64_t write_start(std::int64_t index, std::int64_t count, std::int64_t length, bool circular) {
  if (circular) return (index % length + length) % length;
  if (index < 0 || index > length - count)
    fail(ErrorCode::kInvalidArgument, "write index {} leaves no room for {} entries in a cache of {}", index, count,
         length);
  return index;
}

void tensor_scatter(const KernelContext& context) {
  copy_data(context);
  const TensorView& to = context.output();
  const TensorView& update = context.input(1);
  if (update.elements() == 0) return;
  const int axis = cache_axis(context.attributes(), to.shape);
  const bool circular = context.attributes().text("mode", "linear") == "circular";
  const Indices indices = context.has(2) ? Indices(context.input(2)) : Indices();
  const std::int64_t length = to.shape[axis];
  const std::int64_t count = update.shape[axis];
  const std::int64_t entry = to.strides()[axis];
  const std::int64_t blocks = update.elements() / (count * entry);
  for (std::int64_t block = 0; block < blocks; ++block) {
    const auto image = static_cast<std::size_t>(block / (blocks / to.shape[0]));
    const std::int64_t start = write_start(indices.empty() ? 0 : indices[image], count, length, circular);
    for (std::int64_t i = 0; i < count; ++i)
      replace(to, (block * length + (start + i) % length) * entry, update, (block * count + i) * entry, entry);
  }
}

constexpr OpTraits kScatterElementsTraits{.arity = {3, 3}, .cost = {.per = CostPer::kNothing}};

constexpr Op kScatterOps[] = {
    {"", "ScatterElements", infer_scatter_elements, scatter_elements, kScatterElementsTraits},
    {"", "ScatterND", infer_scatter_nd, scatter_nd, {.arity = {3, 3}, .cost = {.per = CostPer::kNothing}}},
    {"", "TensorScatter", infer_tensor_scatter, tensor_scatter, {.arity = {2, 3}, .cost = {.per = CostPer::kNothing}}},
};

}  // namespace

std::span<const Op> scatter_ops() { return kScatterOps; }

}  // namespace saccade
