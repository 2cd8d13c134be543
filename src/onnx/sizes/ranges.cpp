#include "onnx/sizes/ranges.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include "ops/core/dispatch.hpp"
#include "ops/core/values.hpp"
#include "ops/interpreter/interpret.hpp"

namespace saccade {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

/// How an operator's output depends on its inputs.
enum class Moves : std::uint8_t {
  kUp,            ///< increasing in every input
  kWithTheFirst,  ///< increasing in the first; the others are known
  kApart,         ///< increasing in the first, decreasing in the second
  kAsCounts,      ///< increasing in every input if none is negative
  kAsQuotient,    ///< increasing in the first if the second, which is known, is positive
};

struct MoveRule {
  std::string_view op;
  Moves moves;
};

constexpr std::array kMoveRules = {
    MoveRule{"Add", Moves::kUp},
    MoveRule{"Cast", Moves::kUp},
    MoveRule{"Ceil", Moves::kUp},
    MoveRule{"Concat", Moves::kUp},
    MoveRule{"Div", Moves::kAsQuotient},
    MoveRule{"Equal", Moves::kApart},
    MoveRule{"Expand", Moves::kWithTheFirst},
    MoveRule{"Floor", Moves::kUp},
    MoveRule{"Gather", Moves::kWithTheFirst},
    MoveRule{"Identity", Moves::kUp},
    MoveRule{"Max", Moves::kUp},
    MoveRule{"Min", Moves::kUp},
    MoveRule{"Mul", Moves::kAsCounts},
    MoveRule{"ReduceMax", Moves::kWithTheFirst},
    MoveRule{"ReduceMin", Moves::kWithTheFirst},
    MoveRule{"ReduceProd", Moves::kAsCounts},
    MoveRule{"ReduceSum", Moves::kWithTheFirst},
    MoveRule{"Reshape", Moves::kWithTheFirst},
    MoveRule{"Slice", Moves::kWithTheFirst},
    MoveRule{"Squeeze", Moves::kWithTheFirst},
    MoveRule{"Sub", Moves::kApart},
    MoveRule{"Unsqueeze", Moves::kWithTheFirst},
    MoveRule{"Where", Moves::kUp},
};

/// Two values differ if their ranges are disjoint, as those of a size and -1 are. LOW is the least of the first and the
/// greatest of the second, HIGH the reverse.
std::optional<Range> range_of_equal(const Graph& graph, const Node& node, const std::vector<Tensor>& low,
                                    const std::vector<Tensor>& high, bool of_data) {
  if (low[0].dtype() == DType::kBool) return {};
  Node ordered = node;
  ordered.op = "LessOrEqual";
  Tensor possible = evaluate(graph, ordered, low)[0];
  ordered.op = "GreaterOrEqual";
  const Tensor also = evaluate(graph, ordered, high)[0];
  std::ranges::transform(possible.data<bool>(), also.data<bool>(), possible.data<bool>().begin(), std::logical_and());
  Tensor never(DType::kBool, possible.shape());
  std::ranges::fill(never.data<bool>(), false);
  return Range{std::move(never), std::move(possible), {}, of_data};
}

/// Whether every element is a number from LEAST to MOST.
bool all_between(const Tensor& tensor, double least, double most) {
  if (!is_number(tensor.dtype())) return false;
  bool all = true;
  with_number(tensor.dtype(), [&]<typename T>(std::type_identity<T>) {
    all = std::ranges::all_of(tensor.data<T>(), [&](T x) {
      const auto number = static_cast<double>(x);
      return number >= least && number <= most;
    });
  });
  return all;
}

bool all_from(const Tensor& tensor, double least) { return all_between(tensor, least, kUnbounded); }

double product_of(const Tensor& counts) {
  double product = 1;
  with_number(counts.dtype(), [&]<typename T>(std::type_identity<T>) {
    for (const T x : counts.data<T>()) product *= std::max(static_cast<double>(x), 1.0);
  });
  return product;
}

/// The largest magnitude in a tensor; infinite if its elements are not numbers.
double largest_of(const Tensor& tensor) {
  if (tensor.empty() || !is_number(tensor.dtype())) return kUnbounded;
  double largest = 0;
  with_number(tensor.dtype(), [&]<typename T>(std::type_identity<T>) {
    for (const T x : tensor.data<T>()) largest = std::max(largest, std::abs(static_cast<double>(x)));
  });
  return largest;
}

/// Whether an integer that NODE computes from such INPUTS may overflow its type TO and wrap around.
bool may_wrap(const Node& node, DType to, const std::vector<Tensor>& inputs) {
  const double limit = to == DType::kInt64 ? 0x1p62 : to == DType::kInt32 ? 0x1p30 : 0;
  const DType from = inputs[0].dtype();
  if (node.is("Cast")) {
    if (from == to || from == DType::kBool || is_float(to)) return false;
    return to == DType::kBool ? !all_from(inputs[0], 0) : largest_of(inputs[0]) >= limit;
  }
  if (!is_integer(to)) return false;
  if (node.is("Add") || node.is("Sub")) return largest_of(inputs[0]) + largest_of(inputs[1]) >= limit;
  if (node.is("Mul")) return largest_of(inputs[0]) * largest_of(inputs[1]) >= limit;
  if (node.is("ReduceSum")) return largest_of(inputs[0]) * static_cast<double>(inputs[0].elements()) >= limit;
  return node.is("ReduceProd") && product_of(inputs[0]) >= limit;
}

}  // namespace

const Range* Ranges::get(ValueId id) const {
  const auto found = ranges_.find(id);
  return found == ranges_.end() ? nullptr : &found->second;
}

Tensor Ranges::end_of(ValueId id, bool at_most, KnownValues& known) const {
  if (const Range* range = get(id)) return at_most ? range->most : range->least;
  const Tensor* contents = known.get(id);
  return contents == nullptr ? Tensor() : *contents;
}

/// The counts of one of NODE's two inputs if all elements of the other are NEUTRAL.
Tensor Ranges::counts_beside(const Node& node, std::int64_t neutral) const {
  for (const std::size_t other : {0U, 1U}) {
    const Range* range = get(node.inputs[1 - other]);
    const Tensor* known = known_.get(node.inputs[other]);
    if (range == nullptr || range->counts.empty() || known == nullptr || known->dtype() != DType::kInt64) continue;
    if (!std::ranges::all_of(known->data<std::int64_t>(), [&](std::int64_t x) { return x == neutral; })) continue;
    std::vector<Tensor> inputs(2);
    inputs[other] = *known;
    inputs[1 - other] = range->counts;
    return evaluate(graph_, node, inputs)[0];
  }
  return {};
}

/// A node that only moves elements moves their counts as well; so do an addition of zero and a multiplication by one.
Tensor Ranges::counts_behind(const Node& node, bool first_alone) const {
  if (node.is("Add") || node.is("Mul")) return counts_beside(node, node.is("Add") ? 0 : 1);
  if (traits_of(node).movement == Movement::kNone) return {};
  std::vector<Tensor> inputs;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    Tensor known = end_of(node.inputs[i], false, known_);
    if (node.is("Where") ? i == 0 : i > 0 && first_alone) {
      inputs.push_back(std::move(known));
      continue;
    }
    const Range* range = get(node.inputs[i]);
    if (known.dtype() != DType::kInt64 || (range != nullptr && range->counts.empty())) return {};
    Tensor counts(DType::kInt64, known.shape());
    std::ranges::fill(counts.data<std::int64_t>(), std::int64_t{-1});
    inputs.push_back(range != nullptr ? range->counts : counts);
  }
  return evaluate(graph_, node, inputs)[0];
}

std::optional<Range> Ranges::behind(const Node& node) const {
  const auto is_open = [&](ValueId id) { return get(id) != nullptr; };
  const auto* rule = std::ranges::find(kMoveRules, node.op, &MoveRule::op);
  if (!node.domain.empty() || rule == kMoveRules.end() || node.outputs.size() != 1 || node.inputs.empty() ||
      std::ranges::none_of(node.inputs, is_open) || graph_.value(node.outputs[0]).type.shape.elements() > kMaxElements)
    return {};
  const bool of_data = std::ranges::any_of(node.inputs, [&](ValueId id) { return is_open(id) && get(id)->of_data; });
  std::array<std::vector<Tensor>, 2> ends;
  const bool first_alone = rule->moves == Moves::kWithTheFirst || rule->moves == Moves::kAsQuotient;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if ((node.is("Where") ? i == 0 : i > 0 && first_alone) && is_open(node.inputs[i])) return {};
    const bool down = i == 1 && rule->moves == Moves::kApart;
    for (const bool most : {false, true}) {
      Tensor end = end_of(node.inputs[i], most != down, of_data ? fixed_ : known_);
      if (end.empty() && node.inputs[i] != ValueId::kNone) return {};
      ends[most ? 1 : 0].push_back(std::move(end));
    }
  }
  const DType to = graph_.value(node.outputs[0]).type.dtype;
  if (may_wrap(node, to, ends[0]) || may_wrap(node, to, ends[1])) return {};
  const std::size_t counts = node.is("Mul") ? ends[0].size() : 1;
  for (std::size_t i = 0; rule->moves == Moves::kAsCounts && i < counts; ++i)
    if (!all_from(ends[0][i], 0)) return {};
  if (rule->moves == Moves::kAsQuotient && !all_from(ends[0][1], 1e-30)) return {};
  if (node.is("Equal")) return range_of_equal(graph_, node, ends[0], ends[1], of_data);
  Range range;
  range.least = evaluate(graph_, node, ends[0])[0];
  range.most = evaluate(graph_, node, ends[1])[0];
  if (!of_data) range.counts = counts_behind(node, first_alone);
  range.of_data = of_data;
  return range;
}

}  // namespace saccade
