#include "inspect_report.hpp"

#include <set>

#include "measure/work.hpp"

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
      // Shapes and indices are no parameters.
      if (constant == nullptr || constant->dtype() == DType::kInt64 || !counted.insert(input).second) continue;
      facts.parameters += constant->elements();
      facts.parameter_bytes += constant->bytes();
    }
  }
  return facts;
}

}  // namespace saccade::app
