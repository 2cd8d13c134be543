#include "onnx/upgrade/builder.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "onnx/upgrade/input_counts.hpp"
#include "onnx/upgrade/upgrade_rule.hpp"

namespace saccade {
namespace {

void apply_rules(Upgrade& upgrade, std::int64_t version) {
  if (upgrade.node.domain == "com.microsoft") {
    const auto rules = microsoft_rules();
    const auto rule = std::ranges::find(rules, upgrade.node.op, &UpgradeRule::op);
    if (rule == rules.end()) return;
    upgrade.type(0);
    return rule->apply(upgrade);
  }
  if (!upgrade.node.domain.empty()) return;
  for (const auto rules : {argument_rules(), meaning_rules()})
    for (const UpgradeRule& rule : rules)
      if (rule.op == upgrade.node.op && version < rule.until) {
        upgrade.type(0);  // every operator here has an input
        rule.apply(upgrade);
      }
}

}  // namespace

void Builder::add_nodes(const RawGraph& raw, const std::vector<ValueId>& places, const std::string& suffix) {
  for (NodeId id : raw.graph.order()) {
    Node node = raw.graph.node(id);
    std::vector<bool> wanted;
    for (ValueId output : node.outputs)
      wanted.push_back(output != ValueId::kNone && (!raw.graph.users(output).empty() || raw.graph.is_output(output)));
    for (auto* values : {&node.inputs, &node.outputs})
      for (ValueId& value : *values)
        if (value != ValueId::kNone) value = places[static_cast<std::size_t>(value)];
    node.name += suffix;
    if (raw.bodies.contains(id))
      add_control_flow(raw, id, std::move(node), places);
    else
      add_operator(std::move(node), raw.versions[static_cast<std::size_t>(id)], wanted);
  }
}

void Builder::add_operator(Node node, std::int64_t version, const std::vector<bool>& wanted) {
  Upgrade upgrade(graph_, known_, extents_, std::move(node), wanted);
  try {
    check_input_count(upgrade.node);
    apply_rules(upgrade, version);
  } catch (const Error& error) {
    throw error.in(fmt::format("node '{}' ({})", upgrade.node.name, upgrade.node.op));
  }
  add_inferred(graph_, known_, extents_, std::move(upgrade.node));
}

ValueId Builder::add(const std::string& name, Node node) {
  node.name = name;
  const ValueId output = graph_.add_value(name);
  node.outputs = {output};
  add_inferred(graph_, known_, extents_, std::move(node));
  return output;
}

}  // namespace saccade
