#include "cpu/layout_rules.hpp"

#include <map>

namespace saccade::cpu {
namespace {

using enum LayoutRule;

/// What is not listed runs row-major only.
const std::map<std::string_view, LayoutRule>& onnx_rules() {
  static const std::map<std::string_view, LayoutRule> rules = {
      {"Conv", kChannelsLast}, {"Abs", kAny},          {"Add", kAny},        {"Ceil", kAny},     {"Clip", kAny},
      {"Concat", kAny},        {"DepthToSpace", kAny}, {"Div", kAny},        {"Elu", kAny},      {"Erf", kAny},
      {"Exp", kAny},           {"Expand", kAny},       {"Floor", kAny},      {"Gelu", kAny},     {"HardSigmoid", kAny},
      {"HardSwish", kAny},     {"Identity", kAny},     {"LeakyRelu", kAny},  {"Log", kAny},      {"Max", kAny},
      {"Min", kAny},           {"Mish", kAny},         {"Mul", kAny},        {"Neg", kAny},      {"PRelu", kAny},
      {"Pad", kAny},           {"Pow", kAny},          {"Reciprocal", kAny}, {"Relu", kAny},     {"Round", kAny},
      {"Sigmoid", kAny},       {"Slice", kAny},        {"Softplus", kAny},   {"Softsign", kAny}, {"SpaceToDepth", kAny},
      {"Split", kAny},         {"Sqrt", kAny},         {"Sub", kAny},        {"Sum", kAny},      {"Tanh", kAny},
      {"Tile", kAny},
  };
  return rules;
}

}  // namespace

LayoutRule layout_rule(const NodeContext& context) {
  if (context.node.is("Reorder", "saccade")) return LayoutRule::kAny;
  if (context.node.is("Preprocess", "saccade")) return LayoutRule::kChannelsLast;
  if (!context.node.domain.empty()) return LayoutRule::kRowMajor;
  const auto found = onnx_rules().find(context.node.op);
  return found == onnx_rules().end() ? LayoutRule::kRowMajor : found->second;
}

}  // namespace saccade::cpu
