#include "onnx/sizes/capacities.hpp"

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "onnx/sizes/operator_capacities.hpp"
#include "onnx/sizes/shape_bounds.hpp"

namespace saccade {
namespace {

/// Inputs on whose contents an operator's sizes depend; BY_RANGE: their ranges must be known.
struct Sizing {
  std::string_view op;
  std::array<int, 5> inputs;  ///< -1: none
  bool by_range;
};

// operator list: inputs by position, with how each is bounded.
constexpr std::array kSizing = {
    Sizing{"Compress", {1, -1, -1, -1, -1}, false}, Sizing{"ConstantOfShape", {0, -1, -1, -1, -1}, true},
    Sizing{"Expand", {1, -1, -1, -1, -1}, true},    Sizing{"NonMaxSuppression", {0, 1, 2, 3, 4}, false},
    Sizing{"NonZero", {0, -1, -1, -1, -1}, false},  Sizing{"Pad", {1, -1, -1, -1, -1}, true},
    Sizing{"Range", {0, 1, 2, -1, -1}, true},       Sizing{"Reshape", {1, -1, -1, -1, -1}, true},
    Sizing{"Resize", {2, 3, -1, -1, -1}, true},     Sizing{"Slice", {1, 2, 4, -1, -1}, false},
    Sizing{"Tile", {1, -1, -1, -1, -1}, true},      Sizing{"TopK", {1, -1, -1, -1, -1}, false},
    Sizing{"Unique", {0, -1, -1, -1, -1}, false},
};

}  // namespace

bool is_sized_by_contents(KnownValues& known, const Ranges& ranges, const Node& node) {
  const auto* sizing = std::ranges::find(kSizing, node.op, &Sizing::op);
  if (!node.domain.empty() || sizing == kSizing.end()) return false;
  bool depends = false;
  for (int i : sizing->inputs) {
    if (i < 0 || !is_given(node, static_cast<std::size_t>(i))) continue;
    const ValueId input = node.inputs[static_cast<std::size_t>(i)];
    if (known.get(input) != nullptr) continue;
    if (sizing->by_range && ranges.get(input) == nullptr) return false;
    depends = true;
  }
  return depends;
}

std::vector<Capacity> capacities_of(const SizeQuery& q) {
  CapacityRule* const rule = capacity_rule_of(q.node);
  if (rule == nullptr) return capacities_by_shape_rule(q);
  std::vector<Capacity> capacities = rule(q);
  if (capacities.size() < q.node.outputs.size())
    fail(ErrorCode::kInvalidFile, "the operator has no output {}", capacities.size());
  capacities.resize(q.node.outputs.size());
  return capacities;
}

}  // namespace saccade
