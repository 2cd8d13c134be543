#include "onnx/sizes/operator_capacities.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "onnx/sizes/shape_bounds.hpp"
#include "ops/core/values.hpp"

namespace saccade {
namespace {

const TensorType& type_of(const SizeQuery& q, std::size_t i) {
  if (!is_given(q.node, i)) fail(ErrorCode::kInvalidFile, "input {} is missing", i);
  return q.graph.value(q.node.inputs[i]).type;
}

std::vector<std::int64_t> numbers_at(const SizeQuery& q, std::size_t i, End end) {
  const Tensor* tensor = is_given(q.node, i) ? contents_at(q, i, end) : nullptr;
  return tensor == nullptr ? std::vector<std::int64_t>{} : integers_of(view_of(*tensor));
}

int axis_in(const SizeQuery& q, const Shape& shape, std::int64_t otherwise) {
  if (shape.rank() == 0) fail(ErrorCode::kInvalidFile, "a scalar has no axis");
  return InferContext::axis(q.node.attributes.integer("axis", otherwise), shape.rank());
}

Capacity capacity(DType dtype, const Shape& shape, std::initializer_list<int> open) {
  Capacity made{{dtype, shape}, std::vector<bool>(static_cast<std::size_t>(shape.rank()), false)};
  for (int axis : open) made.open[static_cast<std::size_t>(axis)] = true;
  return made;
}

/// The input's own capacity, for operators that select from it.
Capacity part_of(const SizeQuery& q, std::size_t i) { return {type_of(q, i), q.open[i]}; }

std::vector<Capacity> capacities_of_non_zero(const SizeQuery& q) {
  const Shape& shape = type_of(q, 0).shape;
  return {capacity(DType::kInt64, {std::max(shape.rank(), 1), shape.elements()}, {1})};
}

std::vector<Capacity> capacities_of_compress(const SizeQuery& q) {
  const TensorType& from = type_of(q, 0);
  const std::int64_t most = type_of(q, 1).shape.elements();
  if (!q.node.attributes.has("axis")) return {capacity(from.dtype, {std::min(from.shape.elements(), most)}, {0})};
  Capacity made = part_of(q, 0);
  const int axis = axis_in(q, from.shape, 0);
  made.type.shape[axis] = std::min(made.type.shape[axis], most);
  made.open[static_cast<std::size_t>(axis)] = true;
  return {made};
}

std::vector<Capacity> capacities_of_unique(const SizeQuery& q) {
  const TensorType& from = type_of(q, 0);
  Capacity values = capacity(from.dtype, {from.shape.elements()}, {0});
  std::int64_t most = from.shape.elements();
  if (q.node.attributes.has("axis")) {
    values = part_of(q, 0);
    const int axis = axis_in(q, from.shape, 0);
    values.open[static_cast<std::size_t>(axis)] = true;
    most = from.shape[axis];
  }
  const Capacity firsts = capacity(DType::kInt64, {most}, {0});
  Capacity members = firsts;  // of every slice: as many as the input has
  members.open[0] = std::ranges::any_of(q.open[0], [](bool open) { return open; });
  return {values, firsts, members, firsts};
}

std::vector<Capacity> capacities_of_non_max_suppression(const SizeQuery& q) {
  const Shape& scores = type_of(q, 1).shape;
  if (scores.rank() != 3) fail(ErrorCode::kInvalidFile, "its scores {} are not NxCxB", scores.to_string());
  std::int64_t most = is_given(q.node, 2) ? scores[2] : 0;
  if (const auto limit = numbers_at(q, 2, End::kMost); !limit.empty())
    most = std::clamp<std::int64_t>(limit[0], 0, most);
  return {capacity(DType::kInt64, {checked_multiply(checked_multiply(scores[0], scores[1]), most), 3}, {0})};
}

std::vector<Capacity> capacities_of_top_k(const SizeQuery& q) {
  Capacity values = part_of(q, 0);
  const int axis = axis_in(q, values.type.shape, -1);
  std::int64_t& size = values.type.shape[axis];
  const auto most = numbers_at(q, 1, End::kMost);
  const bool is_known = most.size() == 1 && most == numbers_at(q, 1, End::kLeast);
  if (is_known && most[0] > size) fail(ErrorCode::kInvalidFile, "TopK can't take {} of {}", most[0], size);
  if (most.size() == 1) size = std::clamp<std::int64_t>(most[0], 0, size);
  values.open[static_cast<std::size_t>(axis)] = !is_known;
  Capacity places = values;
  places.type.dtype = DType::kInt64;
  return {values, places};
}

std::vector<Capacity> capacities_of_slice(const SizeQuery& q) {
  Capacity made = part_of(q, 0);
  const Shape whole = made.type.shape;
  const auto axes = numbers_at(q, 3, End::kMost);
  if (is_given(q.node, 3) && q.known.get(q.node.inputs[3]) == nullptr)
    fail(ErrorCode::kUnsupported, "which axes it slices depends on the model's inputs");
  const bool is_known = q.known.get(q.node.inputs[1]) != nullptr && q.known.get(q.node.inputs[2]) != nullptr &&
                        (!is_given(q.node, 4) || q.known.get(q.node.inputs[4]) != nullptr);
  if (is_known) return capacities_by_shape_rule(q);
  const auto steps = numbers_at(q, 4, End::kLeast);
  const auto starts = numbers_at(q, 1, End::kLeast);
  const auto ends = numbers_at(q, 2, End::kMost);
  const auto least_ends = numbers_at(q, 2, End::kLeast);
  const std::int64_t count = type_of(q, 1).shape.elements();
  if (whole.rank() == 0 || (is_given(q.node, 3) && std::cmp_not_equal(axes.size(), count)))
    fail(ErrorCode::kInvalidFile, "Slice has {} starts and {} axes", count, axes.size());
  for (std::int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const int axis = InferContext::axis(axes.empty() ? i : axes[at], whole.rank());
    made.open[static_cast<std::size_t>(axis)] = true;
    // From a known start to an upper bound, neither negative: negative ones count from an end that is not known.
    const bool forward = !is_given(q.node, 4) || (at < steps.size() && steps[at] > 0);
    if (forward && at < starts.size() && at < ends.size() && starts[at] >= 0 && least_ends[at] >= 0)
      made.type.shape[axis] = std::clamp<std::int64_t>(ends[at] - starts[at], 0, whole[axis]);
  }
  return {made};
}

/// The count that element I of INPUT, a list of sizes, equals.
std::optional<ValueId> count_in(const SizeQuery& q, std::size_t input, std::size_t i) {
  const Range* range = q.ranges.get(q.node.inputs[input]);
  if (range == nullptr || range->counts.empty()) return {};
  const auto count = static_cast<ValueId>(range->counts.data<std::int64_t>()[i]);
  return count == ValueId::kNone ? std::nullopt : std::optional(count);
}

/// The count of input axis I if dimension I of a Reshape's target equals it.
std::optional<ValueId> counts_input(const SizeQuery& q, std::size_t i) {
  const auto axis = q.counts[0].find(static_cast<int>(i));
  const auto count = count_in(q, 1, i);
  return axis != q.counts[0].end() && count == axis->second ? count : std::nullopt;
}

std::vector<Capacity> capacities_of_constant(const SizeQuery& q) {
  std::vector<Capacity> capacities = capacities_by_shape_rule(q);
  for (std::size_t i = 0; i < capacities[0].open.size(); ++i)
    if (const auto count = count_in(q, 0, i); count && capacities[0].open[i])
      capacities[0].counts[static_cast<int>(i)] = *count;
  return capacities;
}

/// A dimension of -1 takes all that the other dimensions leave.
std::vector<Capacity> capacities_of_reshape(const SizeQuery& q) {
  const TensorType& from = type_of(q, 0);
  const auto most = numbers_at(q, 1, End::kMost);
  const auto least = numbers_at(q, 1, End::kLeast);
  if (most.empty() && type_of(q, 1).shape.elements() != 0)
    fail(ErrorCode::kUnsupported, "Reshape's target shape (input 1) depends on the model's inputs, and has no bound");
  const bool zero_copies = q.node.attributes.integer("allowzero", 0) == 0;
  Capacity made{{from.dtype, {}}, {}};
  int rest = -1;
  std::int64_t others = 1;  // the least product of the other dimensions
  Shape kept = from.shape;  // the input's dimensions that are not copied
  for (std::size_t i = 0; i < most.size(); ++i) {
    const auto counted = counts_input(q, i);
    const bool zero = most[i] == 0 && least[i] == 0 && zero_copies && std::cmp_less(i, from.shape.rank());
    const bool copies = zero || counted;
    if (counted) made.counts[static_cast<int>(i)] = *counted;
    const bool is_rest = most[i] == -1 && least[i] == -1;
    if (is_rest) rest = static_cast<int>(i);
    const std::int64_t size = copies    ? from.shape[static_cast<int>(i)]
                              : is_rest ? 1
                                        : std::max<std::int64_t>(most[i], 0);
    made.type.shape.push_back(size);
    made.open.push_back(copies ? q.open[0][i] : most[i] != least[i]);
    if (copies)
      kept[static_cast<int>(i)] = 1;
    else if (!is_rest)
      others = checked_multiply(others, std::max<std::int64_t>(least[i], 1));
  }
  if (rest < 0) return {made};
  made.type.shape[rest] = kept.elements() / others;
  bool open = false;
  for (int i = 0; i < from.shape.rank(); ++i) {
    const bool copied = kept[i] != from.shape[i];
    open = open || (q.open[0][static_cast<std::size_t>(i)] && !copied);
  }
  for (std::size_t i = 0; i < most.size(); ++i)
    open = open || (most[i] != least[i] && !made.counts.contains(static_cast<int>(i)));
  made.open[static_cast<std::size_t>(rest)] = open;
  return {made};
}

/// One of two inputs that may differ in size.
std::vector<Capacity> capacities_of_choose(const SizeQuery& q) {
  Capacity made = part_of(q, 1);
  const Capacity other = part_of(q, 2);
  if (made.type.dtype != other.type.dtype || made.open.size() != other.open.size())
    fail(ErrorCode::kUnsupported, "a condition that depends on the model's inputs decides between {} {} and {} {}",
         to_string(made.type.dtype), made.type.shape.to_string(), to_string(other.type.dtype),
         other.type.shape.to_string());
  for (std::size_t i = 0; i < made.open.size(); ++i) {
    std::int64_t& size = made.type.shape[static_cast<int>(i)];
    const std::int64_t otherwise = other.type.shape[static_cast<int>(i)];
    made.open[i] = made.open[i] || other.open[i] || size != otherwise;
    size = std::max(size, otherwise);
  }
  return {made};
}

/// The number of steps of the least size from one end to the other. The sign of the step must be known.
std::vector<Capacity> capacities_of_range(const SizeQuery& q) {
  const auto sign_of = [&](End end) {
    const Tensor* delta = is_given(q.node, 2) ? contents_at(q, 2, end) : nullptr;
    const double step = delta == nullptr || delta->elements() != 1 ? 0 : real_of(view_of(*delta));
    return step > 0 ? 1 : step < 0 ? -1 : 0;
  };
  const int sign = sign_of(End::kLeast);
  if (sign == 0 || sign != sign_of(End::kMost))
    fail(ErrorCode::kUnsupported, "whether Range's delta (input 2) is positive depends on the model's inputs");
  // Ascending from the least start to the greatest limit, descending from the greatest to the least; the smallest step
  // in both cases.
  const End start = sign > 0 ? End::kLeast : End::kMost;
  const End limit = sign > 0 ? End::kMost : End::kLeast;
  const Types types = inputs_at(q, End::kMost, 0);
  return between(infer_types_at(q, types, [&](int i) { return i == 1 ? limit : start; }),
                 infer_types_at(q, types, [&](int i) { return i == 1 ? start : limit; }));
}

std::vector<Capacity> capacities_of_squeeze(const SizeQuery& q) {
  if (!is_given(q.node, 1))
    fail(ErrorCode::kUnsupported, "Squeeze without axes drops what is 1, and that depends on the data");
  return capacities_by_shape_rule(q);
}

struct OperatorRule {
  std::string_view domain;
  std::string_view op;
  CapacityRule* capacities;
};

constexpr std::array kOperatorRules = {
    OperatorRule{"", "Compress", capacities_of_compress},
    OperatorRule{"", "ConstantOfShape", capacities_of_constant},
    OperatorRule{"", "NonMaxSuppression", capacities_of_non_max_suppression},
    OperatorRule{"", "NonZero", capacities_of_non_zero},
    OperatorRule{"", "Range", capacities_of_range},
    OperatorRule{"", "Reshape", capacities_of_reshape},
    OperatorRule{"", "Slice", capacities_of_slice},
    OperatorRule{"", "Squeeze", capacities_of_squeeze},
    OperatorRule{"", "TopK", capacities_of_top_k},
    OperatorRule{"", "Unique", capacities_of_unique},
    OperatorRule{"saccade", "Choose", capacities_of_choose},
};

}  // namespace

CapacityRule* capacity_rule_of(const Node& node) {
  const auto rule =
      std::ranges::find_if(kOperatorRules, [&](const OperatorRule& each) { return node.is(each.op, each.domain); });
  return rule == kOperatorRules.end() ? nullptr : rule->capacities;
}

}  // namespace saccade
