#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "ops/core/dispatch.hpp"
#include "ops/core/index.hpp"
#include "ops/core/strided_copy.hpp"
#include "ops/elementwise/cast.hpp"

// Unique elements, or slices along an axis, of contents known when the graph is built: otherwise their number depends
// on the data, and shapes are static.
namespace saccade {
namespace {

/// The input as OUTER x COUNT x INNER: slice i consists of the elements (o, i, n).
struct Slices {
  std::int64_t outer = 1;
  std::int64_t count = 1;
  std::int64_t inner = 1;
};

Slices unique_slices(const Attributes& attributes, const Shape& shape) {
  if (!attributes.has("axis")) return {.count = shape.elements()};
  const int axis = axis_of(attributes, shape);
  Slices slices{.count = shape[axis]};
  for (int i = 0; i < shape.rank(); ++i)
    if (i != axis) (i < axis ? slices.outer : slices.inner) *= shape[i];
  return slices;
}

/// Groups of equal slices, in the order of the output.
struct UniqueGroups {
  std::vector<std::int64_t> first;   ///< of each group, its first slice
  std::vector<std::int64_t> member;  ///< of each slice, its group
  std::vector<std::int64_t> count;   ///< of each group, its size
};

/// Three-way comparison. All NaNs are equal, and greater than every number.
template <typename T>
int compare(const T& x, const T& y) {
  if (x < y) return -1;
  if (y < x) return 1;
  if (x == y) return 0;
  return static_cast<int>(x != x) - static_cast<int>(y != y);
}

template <typename T>
int compare_slices(const T* data, const Slices& slices, std::int64_t a, std::int64_t b) {
  for (std::int64_t outer = 0; outer < slices.outer; ++outer)
    for (std::int64_t inner = 0; inner < slices.inner; ++inner) {
      const T* at = data + outer * slices.count * slices.inner + inner;
      if (const int order = compare<T>(at[a * slices.inner], at[b * slices.inner]); order != 0) return order;
    }
  return 0;
}

/// Groups in ascending order.
template <typename T>
UniqueGroups sorted_groups(const T* data, const Slices& slices) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(slices.count));
  std::iota(order.begin(), order.end(), 0);
  // Stable, so that a group's first slice is its first in the input.
  std::ranges::stable_sort(order,
                           [&](std::int64_t a, std::int64_t b) { return compare_slices(data, slices, a, b) < 0; });
  UniqueGroups groups;
  groups.member.resize(order.size());
  for (const std::int64_t slice : order) {
    if (groups.first.empty() || compare_slices(data, slices, groups.first.back(), slice) != 0) {
      groups.first.push_back(slice);
      groups.count.push_back(0);
    }
    groups.member[static_cast<std::size_t>(slice)] = static_cast<std::int64_t>(groups.first.size()) - 1;
    ++groups.count.back();
  }
  return groups;
}

/// The same groups by first occurrence.
UniqueGroups by_occurrence(const UniqueGroups& sorted) {
  std::vector<std::size_t> order(sorted.first.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](std::size_t group) { return sorted.first[group]; });
  UniqueGroups groups;
  std::vector<std::int64_t> place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    place[order[i]] = static_cast<std::int64_t>(i);
    groups.first.push_back(sorted.first[order[i]]);
    groups.count.push_back(sorted.count[order[i]]);
  }
  for (const std::int64_t group : sorted.member) groups.member.push_back(place[static_cast<std::size_t>(group)]);
  return groups;
}

UniqueGroups groups_of(const Attributes& attributes, const TensorView& input) {
  const Slices slices = unique_slices(attributes, input.shape);
  UniqueGroups groups;
  const auto group = [&]<typename T>(std::type_identity<T>, const void* data) {
    groups = sorted_groups(static_cast<const T*>(data), slices);
  };
  if (input.dtype == DType::kString) {
    group(std::type_identity<std::string>{}, input.data);
  } else if (input.dtype == DType::kBool) {
    // A model file may contain other bools than 0 and 1.
    const Tensor bytes(DType::kUInt8, input.shape);
    cast_elements(input, view_of(bytes));
    group(std::type_identity<std::uint8_t>{}, bytes.raw());
  } else {
    with_number(input.dtype, [&]<typename T>(std::type_identity<T> type) { group(type, input.data); });
  }
  return attributes.integer("sorted", 1) != 0 ? groups : by_occurrence(groups);
}

void infer_unique(InferContext& context) {
  const DType dtype = context.dtype(0);
  if (!is_number(dtype) && dtype != DType::kBool && dtype != DType::kString)
    fail(ErrorCode::kUnsupported, "Unique of {} is not supported", to_string(dtype));
  const Slices slices = unique_slices(context.attributes(), context.shape(0));
  const Tensor* known = context.known(0);
  if (known == nullptr)
    fail(ErrorCode::kUnsupported, "the size of its output depends on the data; export the model without it");
  // Sorting takes about log N comparisons per element.
  if (!context.afford(32 * static_cast<double>(known->elements())))
    fail(ErrorCode::kUnsupported, "{} are too many to sort when the graph is built", known->shape().to_string());
  const auto count = static_cast<std::int64_t>(groups_of(context.attributes(), view_of(*known)).first.size());
  Shape output{count};
  if (context.attributes().has("axis")) {
    output = context.shape(0);
    output[axis_of(context.attributes(), output)] = count;
  }
  context.output(0, dtype, output);
  context.output(1, DType::kInt64, {count});
  context.output(2, DType::kInt64, {slices.count});
  context.output(3, DType::kInt64, {count});
}

void unique(const KernelContext& context) {
  const TensorView& from = context.input(0);
  const Slices slices = unique_slices(context.attributes(), from.shape);
  const UniqueGroups groups = groups_of(context.attributes(), from);
  const auto count = static_cast<std::int64_t>(groups.first.size());
  for (std::int64_t i = 0; context.wants(0) && i < count; ++i)
    strided_copy(
        from.dtype, {slices.outer, slices.inner},
        {from.data, groups.first[static_cast<std::size_t>(i)] * slices.inner, {slices.count * slices.inner, 1}},
        {context.output().data, i * slices.inner, {count * slices.inner, 1}});
  if (context.wants(1)) std::ranges::copy(groups.first, context.out<std::int64_t>(1).begin());
  if (context.wants(2)) std::ranges::copy(groups.member, context.out<std::int64_t>(2).begin());
  if (context.wants(3)) std::ranges::copy(groups.count, context.out<std::int64_t>(3).begin());
}

constexpr Op kUniqueOps[] = {{"", "Unique", infer_unique, unique, {.rows = {{{RowCount::By::kData}}}}}};

}  // namespace

std::span<const Op> unique_ops() { return kUniqueOps; }

}  // namespace saccade
