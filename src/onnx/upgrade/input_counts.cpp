#include "onnx/upgrade/input_counts.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "ops/core/op.hpp"

namespace saccade {
namespace {

struct OlderForm {
  std::string_view op;
  int most;
};

// Operators whose older forms have more inputs, or that have no newer form.
constexpr std::array kOlderForms = {OlderForm{"Scatter", 3}, OlderForm{"Tile", 3}, OlderForm{"Upsample", 2}};

}  // namespace

void check_input_count(const Node& node) {
  if (!node.domain.empty()) return;
  // Older forms of an operator have attributes in place of some inputs.
  Arity arity{.least = 0, .most = traits_of(node).arity.most};
  if (const auto* older = std::ranges::find(kOlderForms, node.op, &OlderForm::op); older != kOlderForms.end())
    arity.most = older->most;
  check_arity(node, arity);
}

}  // namespace saccade
