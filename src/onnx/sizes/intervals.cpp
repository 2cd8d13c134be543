#include "onnx/sizes/intervals.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "ops/core/dispatch.hpp"

namespace saccade {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr ClosedInterval kAnything{-kInfinity, kInfinity};
constexpr ClosedInterval kLeftOut{kInfinity, -kInfinity};
// Intervals are read from scalars and per-axis scales. Larger constants are weights, whose intervals are not needed.
constexpr std::int64_t kMaxContents = 1024;
// Integers up to here are exact in double.
constexpr double kMaxWhole = 9'007'199'254'740'992;  // 2^53

bool is_bounded(ClosedInterval x) { return x.least > -kInfinity || x.most < kInfinity; }

/// The operands of an operator, from which a rule derives its output's interval.
using InputIntervals = std::span<const ClosedInterval>;

ClosedInterval hull(InputIntervals x) {
  ClosedInterval all = x[0];
  for (const ClosedInterval& each : x) all = {std::min(all.least, each.least), std::max(all.most, each.most)};
  return all;
}

/// For F, which is non-decreasing and element-wise.
template <double (*F)(double)>
ClosedInterval rising(InputIntervals x) {
  return {F(x[0].least), F(x[0].most)};
}

double positive(double x) { return std::max(x, 0.0); }

ClosedInterval sum(InputIntervals x) { return {x[0].least + x[1].least, x[0].most + x[1].most}; }

ClosedInterval difference(InputIntervals x) { return {x[0].least - x[1].most, x[0].most - x[1].least}; }

/// For F, which is monotonic in each argument: the extremes over all combinations of the ends.
template <double (*F)(double, double)>
ClosedInterval corners(InputIntervals x) {
  const std::array ends{F(x[0].least, x[1].least), F(x[0].least, x[1].most), F(x[0].most, x[1].least),
                        F(x[0].most, x[1].most)};
  return {*std::ranges::min_element(ends), *std::ranges::max_element(ends)};
}

/// Zero times an unknown end is zero.
double times(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

double over(double a, double b) { return std::isinf(a) ? std::copysign(a, a * b) : a / b; }

ClosedInterval quotient(InputIntervals x) { return x[1].least <= 0 && x[1].most >= 0 ? kAnything : corners<over>(x); }

ClosedInterval negative(InputIntervals x) { return {-x[0].most, -x[0].least}; }

ClosedInterval least_of(InputIntervals x) {
  ClosedInterval made = x[0];
  for (const ClosedInterval& each : x) made = {std::min(made.least, each.least), std::min(made.most, each.most)};
  return made;
}

ClosedInterval greatest_of(InputIntervals x) {
  ClosedInterval made = x[0];
  for (const ClosedInterval& each : x) made = {std::max(made.least, each.least), std::max(made.most, each.most)};
  return made;
}

/// Operands: x, min, max.
ClosedInterval clip(InputIntervals x) {
  const auto is_given = [&](std::size_t i) { return x.size() > i && x[i].least <= x[i].most; };
  ClosedInterval made = x[0];
  if (is_given(1)) made = greatest_of(std::array{made, x[1]});
  if (is_given(2)) made = least_of(std::array{made, x[2]});
  return made;
}

struct IntervalRule {
  std::string_view op;
  ClosedInterval (*ends)(InputIntervals);
  std::size_t from = 0;  ///< the operands are the inputs from this one
  std::size_t to = 1;    ///< up to this one, exclusive
  bool calculates =
      false;  ///< computes a number from all of them, which may overflow or be rounded to the output's type
};

constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

constexpr std::array kIntervalRules = {
    IntervalRule{"Add", sum, 0, 2, true},
    IntervalRule{"Cast", hull, 0, 1, true},
    IntervalRule{"Ceil", rising<std::ceil>},
    IntervalRule{"Clip", clip, 0, 3},
    IntervalRule{"Compress", hull},
    IntervalRule{"Concat", hull, 0, kAll},
    IntervalRule{"Div", quotient, 0, 2, true},
    IntervalRule{"Expand", hull},
    IntervalRule{"Flatten", hull},
    IntervalRule{"Floor", rising<std::floor>},
    IntervalRule{"Gather", hull},
    IntervalRule{"GatherElements", hull},
    IntervalRule{"GatherND", hull},
    IntervalRule{"Identity", hull},
    IntervalRule{"Max", greatest_of, 0, kAll},
    IntervalRule{"Min", least_of, 0, kAll},
    IntervalRule{"Mul", corners<times>, 0, 2, true},
    IntervalRule{"Neg", negative, 0, 1, true},
    IntervalRule{"Relu", rising<positive>},
    IntervalRule{"Reshape", hull},
    IntervalRule{"Round", rising<std::nearbyint>},
    IntervalRule{"Slice", hull},
    IntervalRule{"Split", hull},
    IntervalRule{"Squeeze", hull},
    IntervalRule{"Sub", difference, 0, 2, true},
    IntervalRule{"Tile", hull},
    IntervalRule{"Transpose", hull},
    IntervalRule{"Unsqueeze", hull},
    IntervalRule{"Where", hull, 1, 3},
};

/// Null where the operator is not in the table.
const IntervalRule* rule_of(const Node& node) {
  const std::string_view op = node.is("Choose", "saccade") ? "Where" : std::string_view(node.op);
  if (!node.domain.empty() && op == node.op) return nullptr;
  const auto* rule = std::ranges::find(kIntervalRules, op, &IntervalRule::op);
  return rule == kIntervalRules.end() ? nullptr : rule;
}

/// X converted to a type, to which computed numbers are rounded; kAnything if they may overflow.
ClosedInterval as_type(ClosedInterval x, DType dtype, bool calculated) {
  if (dtype == DType::kInt32 || dtype == DType::kInt64) {
    const double limit = dtype == DType::kInt32 ? std::numeric_limits<std::int32_t>::max() : kMaxWhole;
    const bool fits = x.least >= -limit && x.most <= limit;
    // Overflow wraps around.
    if (!fits && calculated) return kAnything;
    if (!fits) return {x.least < -limit ? -kInfinity : x.least, x.most > limit ? kInfinity : x.most};
    return {std::trunc(x.least), std::trunc(x.most)};
  }
  double step = 0;
  if (dtype == DType::kFloat32) step = std::numeric_limits<float>::epsilon();
  if (dtype == DType::kFloat64) step = std::numeric_limits<double>::epsilon();
  if (step == 0) return kAnything;
  if (!calculated) return x;
  const auto widened = [&](double end, double way) { return std::isinf(end) ? end : end + way * step * std::abs(end); };
  return {widened(x.least, -1), widened(x.most, 1)};
}

}  // namespace

std::optional<ClosedInterval> Intervals::get(ValueId id) const {
  const auto found = intervals_.find(id);
  return found == intervals_.end() ? std::nullopt : std::optional(found->second);
}

ClosedInterval Intervals::of(ValueId id) const {
  if (id == ValueId::kNone) return kLeftOut;
  if (const auto learnt = get(id)) return *learnt;
  const Value& value = graph_.value(id);
  const Tensor* known = value.type.shape.elements() > kMaxContents ? nullptr : fixed_.get(id);
  if (known == nullptr || known->elements() == 0) return kAnything;
  if (!is_number(known->dtype())) return kAnything;
  ClosedInterval ends{kInfinity, -kInfinity};
  with_number(known->dtype(), [&]<typename T>(std::type_identity<T>) {
    for (const T element : known->data<T>()) {
      const auto x = static_cast<double>(element);
      ends = std::isnan(x) ? kAnything : ClosedInterval{std::min(ends.least, x), std::max(ends.most, x)};
    }
  });
  return ends;
}

void Intervals::learn(const Node& node) {
  const IntervalRule* rule = rule_of(node);
  if (rule == nullptr || node.inputs.size() <= rule->from) return;
  // operator list: functions with a finite bound.
  const bool cuts_off = node.is("Clip") || node.is("Max") || node.is("Min") || node.is("Relu");
  const auto inputs = std::span(node.inputs).subspan(rule->from, std::min(rule->to, node.inputs.size()) - rule->from);
  if (!cuts_off && std::ranges::none_of(inputs, [&](ValueId id) { return intervals_.contains(id); })) return;
  if (rule->calculates && inputs.size() < rule->to) return;
  std::vector<ClosedInterval> operands;
  for (ValueId input : inputs) operands.push_back(of(input));
  const ClosedInterval made = rule->ends(operands);
  for (ValueId output : node.outputs) {
    if (output == ValueId::kNone) continue;
    const ClosedInterval fitting = as_type(made, graph_.value(output).type.dtype, rule->calculates);
    if (is_bounded(fitting)) intervals_.insert_or_assign(output, fitting);
  }
}

}  // namespace saccade
