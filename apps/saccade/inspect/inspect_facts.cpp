#include "inspect/inspect_report.hpp"

#include <algorithm>
#include <set>

#include "measure/limits/work.hpp"

namespace saccade::app {

ModelFacts facts_of(const Graph& graph) {
  ModelFacts facts;
  std::set<ValueId> counted;
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    const std::string name = node.domain.empty() ? node.op : node.domain + "." + node.op;
    ++facts.operators[name];
    if (const std::int64_t macs = macs_of(graph, node); macs != 0) {
      facts.macs += macs;
      facts.macs_by_operator[name] += macs;
    }
    for (ValueId input : node.inputs) {
      const Tensor* constant = graph.constant(input);
      // Shapes and indices are not parameters.
      if (constant == nullptr || constant->dtype() == DType::kInt64 || !counted.insert(input).second) continue;
      facts.parameters += constant->elements();
      facts.parameter_bytes += constant->bytes();
    }
  }
  return facts;
}

std::vector<Fallback> fallbacks_of(const Plan& plan) {
  std::map<std::string, Fallback> found;
  if (plan.backend().name() == "reference") return {};
  for (const Step& step : plan.steps()) {
    if (step.tactic == nullptr || step.tactic->name() != "reference") continue;
    const Node& node = plan.graph().node(step.node);
    const std::string op = node.domain.empty() ? node.op : node.domain + "." + node.op;
    Fallback& fallback = found.try_emplace(op, Fallback{.op = op, .example = node.name}).first->second;
    ++fallback.count;
    fallback.reasons.insert(step.refusals.begin(), step.refusals.end());
  }
  std::vector<Fallback> all;
  all.reserve(found.size());
  for (auto& [op, fallback] : found) all.push_back(std::move(fallback));
  return all;
}

std::size_t peak_activation_bytes(const Plan& plan) {
  // Bytes allocated minus bytes freed, per step. A value that aliases another extends its lifetime.
  const std::size_t end = plan.steps().size();
  std::vector<std::int64_t> change(end + 2);
  struct Life {
    std::size_t first;
    std::size_t last;
  };
  std::map<ValueId, Life> lives;  // by owner of the memory
  const auto use = [&](ValueId id, std::size_t step) {
    if (id == ValueId::kNone) return;
    const ValueId root = plan.slots()[static_cast<std::size_t>(id)].root;
    lives.try_emplace(root, Life{step, step}).first->second.last = step;
  };
  for (ValueId id : plan.graph().inputs()) use(id, 0);
  for (std::size_t i = 0; i < end; ++i) {
    const Node& node = plan.graph().node(plan.steps()[i].node);
    for (const auto* values : {&node.inputs, &node.outputs})
      for (ValueId id : *values) use(id, i);
  }
  for (ValueId id : plan.graph().inputs()) use(id, end);
  for (ValueId id : plan.graph().outputs()) use(id, end);
  for (const auto& [id, life] : lives) {
    if (id == ValueId::kNone) continue;
    const Slot& slot = plan.slots()[static_cast<std::size_t>(id)];
    if (slot.kind != Slot::Kind::kArena) continue;
    change[life.first] += static_cast<std::int64_t>(slot.bytes);
    change[life.last + 1] -= static_cast<std::int64_t>(slot.bytes);
  }
  std::int64_t live = 0;
  std::int64_t peak = 0;
  for (const std::int64_t by : change) peak = std::max(peak, live += by);
  return static_cast<std::size_t>(peak);
}

}  // namespace saccade::app
