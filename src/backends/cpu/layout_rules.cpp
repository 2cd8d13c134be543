#include "cpu/layout_rules.hpp"

#include <map>

namespace saccade::cpu {
namespace {

/// What is not listed runs row-major only.
const std::map<std::string_view, LayoutRule>& onnx_rules() {
  static const std::map<std::string_view, LayoutRule> rules = {
      {"Conv", LayoutRule::kChannelsLast},
  };
  return rules;
}

}  // namespace

LayoutRule layout_rule(const NodeContext& context) {
  if (context.node.is("Reorder", "saccade")) return LayoutRule::kAny;
  if (!context.node.domain.empty()) return LayoutRule::kRowMajor;
  const auto found = onnx_rules().find(context.node.op);
  return found == onnx_rules().end() ? LayoutRule::kRowMajor : found->second;
}

}  // namespace saccade::cpu
