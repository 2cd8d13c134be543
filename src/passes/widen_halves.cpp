#include <algorithm>
#include <map>
#include <set>

#include "ops/core/values.hpp"
#include "passes/core/match.hpp"

// Processors without arithmetic in float16 or bfloat16 compute such networks in float32: every node that takes halves
// takes what they are in float32 instead, and gives float32 to the next. Casts stand where halves come in, go out, or
// are made by a node that stays: a Cast that the model itself has rounds as it did before.
namespace saccade {
namespace {

bool is_half(const Graph& graph, ValueId id) {
  if (id == ValueId::kNone) return false;
  const DType dtype = graph.value(id).type.dtype;
  return dtype == DType::kFloat16 || dtype == DType::kBFloat16;
}

/// Nodes that name the type of what they make.
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

  /// A half in float32.
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

  /// Gives a half that is WIDE now to the nodes that stay, and to the graph's outputs.
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
  std::map<ValueId, ValueId> others_;              // what widened nodes make beside halves, by what they made before
  std::map<ValueId, ValueId> wide_;                // by half
  std::vector<std::pair<ValueId, ValueId>> made_;  // of those, by a widened node
};

}  // namespace

std::optional<Patch> widen_halves(const PassContext& context) {
  if (!context.widen_halves) return {};
  return Widening(context.graph).patch();
}

}  // namespace saccade
