#include "ops/core/values.hpp"
#include "passes/core/match.hpp"

// A frame's pixels become half precision as they are made, if nothing reads them in float32.
namespace saccade {

std::optional<Patch> fuse_preprocess_cast(const PassContext& context, NodeId id) {
  const Graph& graph = context.graph;
  const Node& cast = graph.node(id);
  if (!cast.is("Cast") || !is_plain(cast) || !context.target.has_kernel) return {};
  const DType to = graph.value(output_of(cast)).type.dtype;
  if (to != DType::kFloat16 && to != DType::kBFloat16) return {};
  const Node* producer = producer_for(graph, cast.inputs[0], id);
  if (producer == nullptr || !producer->is("Preprocess", "saccade") || output_of(*producer) != cast.inputs[0])
    return {};
  Node fused = *producer;
  fused.attributes.set("to", onnx_of_dtype(to));
  fused.outputs[0] = output_of(cast);
  if (!context.target.has_kernel(graph, fused)) return {};
  Patch patch(graph, fmt::format("{} into {}", cast.name, producer->name));
  for (ValueId& output : fused.outputs) {
    if (output == ValueId::kNone) continue;
    const ValueId old = output;
    output = patch.add_value(graph.value(old).name);
    patch.replace(old, output);
  }
  patch.add_node(std::move(fused));
  return patch;
}

}  // namespace saccade
