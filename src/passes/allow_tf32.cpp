#include <map>

#include "ops/core/tf32.hpp"
#include "passes/core/match.hpp"

// Marks the float32 convolutions, GEMMs and attention of the model, not of pre- and post-processing, so that their
// operands may be rounded to tf32.
namespace saccade {
namespace {

bool may_round(const PassContext& context, const Node& node) {
  return traits_of(node).is_float_product() && node.stage == Stage::kModel &&
         is_float32(context.graph, output_of(node)) && !takes_tf32(node) &&
         !context.precision.keep_fp32.products.contains(node.name);
}

}  // namespace

std::optional<Patch> allow_tf32(const PassContext& context) {
  const Graph& graph = context.graph;
  if (!context.precision.tf32) return {};
  Patch patch(graph, "round multiplied operands to tf32");
  std::map<ValueId, ValueId> made;
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (!may_round(context, node)) continue;
    Node marked = node;
    marked.attributes.set(kTf32Attribute, std::int64_t{1});
    marked.outputs = {patch.add_value(graph.value(output_of(node)).name)};
    for (ValueId& input : marked.inputs)
      if (const auto found = made.find(input); found != made.end()) input = found->second;
    made[output_of(node)] = marked.outputs[0];
    patch.replace(output_of(node), marked.outputs[0]);
    patch.add_node(std::move(marked));
  }
  if (made.empty()) return {};
  return patch;
}

}  // namespace saccade
