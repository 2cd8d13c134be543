#include <algorithm>
#include <map>
#include <set>

#include "ops/core/values.hpp"
#include "passes/core/match.hpp"

// Computes fp16 and bf16 networks in float32 for targets without half-precision arithmetic. Every node with
// half-precision inputs reads and writes float32 instead. Casts remain at graph inputs and outputs and at nodes that
// are not widened: a Cast of the model rounds as before.
namespace saccade {
namespace {

bool is_half(const Graph& graph, ValueId id) {
  if (id == ValueId::kNone) return false;
  const DType dtype = graph.value(id).type.dtype;
  return dtype == DType::kFloat16 || dtype == DType::kBFloat16;
}

/// Whether an attribute of the node defines the type of its output.
bool names_type(const Node& node) {
  constexpr std::string_view kAttributes[] = {"dtype", "output_dtype", "softmax_precision"};
  return traits_of(node).names_type ||
         std::ranges::any_of(kAttributes, [&](std::string_view name) { return node.attributes.has(name); });
}

class Widening {
 public:
  explicit Widening(const Graph& graph) : graph_(graph), patch_(graph, "compute half precision in float32") {
    for (NodeId id : graph.order()) {
      const Node& node = graph.node(id);
      const auto half = [&](ValueId input) { return is_half(graph, input); };
      if (node.domain.empty() && node.post_ops.empty() && !names_type(node) && std::ranges::any_of(node.inputs, half))
        widened_.insert(id);
    }
  }

  std::optional<Patch> patch() {
    if (widened_.empty()) return {};
    for (NodeId id : graph_.order())
      if (widened_.contains(id)) widen(id);
    for (const auto& [half, wide] : made_) serve_others(half, wide);
    return std::move(patch_);
  }

 private:
  void widen(NodeId id) {
    Node node = graph_.node(id);
    for (ValueId& input : node.inputs) {
      if (is_half(graph_, input))
        input = wide(input, node.stage);
      else if (const auto made = others_.find(input); made != others_.end())
        input = made->second;
    }
    for (ValueId& output : node.outputs) {
      if (output == ValueId::kNone) continue;
      const ValueId old = output;
      output = patch_.add_value(graph_.value(old).name + (is_half(graph_, old) ? "/float32" : ""));
      if (is_half(graph_, old)) {
        wide_[old] = output;
        made_.emplace_back(old, output);
      } else {
        others_[old] = output;
        patch_.replace(old, output);
      }
    }
    patch_.add_node(std::move(node));
    patch_.drop(id);
  }

  /// The float32 value of a half-precision one.
  ValueId wide(ValueId half, Stage stage) {
    const auto [place, is_new] = wide_.emplace(half, ValueId::kNone);
    if (is_new) place->second = cast(half, graph_.value(half).name + "/float32", DType::kFloat32, stage);
    return place->second;
  }

  ValueId cast(ValueId from, std::string name, DType to, Stage stage) {
    Node node{.op = "Cast", .name = std::move(name), .inputs = {from}, .stage = stage};
    node.attributes.set("to", onnx_of_dtype(to));
    return patch_.add_node_with_output(std::move(node));
  }

  /// Casts back a value that is WIDE now for readers that are not widened and for graph outputs.
  void serve_others(ValueId half, ValueId wide) {
    bool is_read = graph_.is_output(half);
    for (NodeId id : graph_.users(half)) is_read = is_read || !widened_.contains(id);
    if (!is_read) return;
    const Value& value = graph_.value(half);
    const Stage stage = graph_.node(value.producer).stage;
    patch_.replace(half, cast(wide, value.name + "/half", value.type.dtype, stage));
  }

  const Graph& graph_;
  Patch patch_;
  std::set<NodeId> widened_;
  std::map<ValueId, ValueId> others_;              // other outputs of widened nodes, by their former value
  std::map<ValueId, ValueId> wide_;                // by half-precision value
  std::vector<std::pair<ValueId, ValueId>> made_;  // outputs of widened nodes: half, float32
};

}  // namespace

std::optional<Patch> widen_halves(const PassContext& context) {
  if (context.target.half_precision) return {};
  return Widening(context.graph).patch();
}

}  // namespace saccade
