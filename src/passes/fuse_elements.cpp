#include <algorithm>

#include "ops/core/op.hpp"
#include "passes/core/match.hpp"
#include "passes/fused_body.hpp"
#include "tensor/view.hpp"

// Fuses chains of element-wise and data-movement operators into a saccade.Fused, which the target runs as one launch. A
// node takes in the producers of its inputs, unless another node needs their outputs in memory. A producer with several
// readers is recomputed in each of them if that is cheap. Values that only such nodes read are never written to memory.
namespace saccade {
namespace {

// Limits for readable kernels whose parameters fit.
constexpr std::size_t kMaxNodes = 32;
constexpr std::size_t kMaxInputs = 12;
/// Recomputed operations that are worth one saved launch: a GPU executes as many in that time.
constexpr std::int64_t kMaxExtraSteps = std::int64_t{1} << 22;

/// Whether the output is the input's storage, so that the node has no launch.
bool is_free(const Graph& graph, const Node& node) {
  if (!traits_of(node).is_view() || !node.post_ops.empty()) return false;
  const Value& from = graph.value(node.inputs[0]);
  const Value& to = graph.value(output_of(node));
  return lies_alike(from.type.shape, from.layout, to.type.shape, to.layout);
}

/// Operations per element, without reads.
std::int64_t arithmetic_steps(const Node& node) { return traits_of(node).cost.slow ? 8 : 1; }

/// Operations per element of a node's output, including reads.
std::int64_t steps_of(const Node& node) {
  const auto steps = static_cast<std::int64_t>(node.inputs.size() + node.post_ops.size());
  if (!node.is("Fused", "saccade")) return steps + arithmetic_steps(node);
  const std::shared_ptr<const Graph> body = node.attributes.graph("body");
  std::int64_t sum = steps;
  for (NodeId id : body->order()) sum += arithmetic_steps(body->node(id));
  return sum;
}

/// How many elements of the value its readers compute, counting each read.
std::int64_t uses(const Graph& graph, ValueId id) {
  std::int64_t sum = 0;
  for (NodeId user : graph.users(id)) {
    const Node& reader = graph.node(user);
    if (reader.is("Fused", "saccade")) {
      const auto body = reader.attributes.graph("body");
      const auto place = static_cast<std::size_t>(std::ranges::find(reader.inputs, id) - reader.inputs.begin());
      sum += uses(*body, body->inputs()[place]);
    } else if (is_free(graph, reader)) {
      sum += uses(graph, output_of(reader));
    } else {
      sum += graph.value(reader.is("Concat") ? id : output_of(reader)).type.shape.elements();
    }
  }
  return sum;
}

class Fusion {
 public:
  Fusion(const PassContext& context, NodeId root) : context_(context), graph_(context.graph), root_(root) {}

  /// The fusion of the root with the producers that it can take in; nullopt if there is none.
  std::optional<Patch> patch() {
    if (!fuses(root_) || node().outputs.size() != 1 || is_free(graph_, node())) return {};
    std::vector<std::set<NodeId>> parts = parts_before();
    for (; !parts.empty(); parts.pop_back()) {
      std::set<NodeId> nodes{root_};
      for (const auto& part : parts) nodes.insert(part.begin(), part.end());
      FusedBody body(graph_);
      body.take(nodes);
      if (body.inputs().size() > kMaxInputs || body.inputs().empty()) continue;
      auto inside = body.finish(output_of(node()));
      if (inside->node_count() <= kMaxNodes) return patch(std::move(inside), body.inputs(), nodes.size() - 1);
    }
    return {};
  }

 private:
  const Node& node() const { return graph_.node(root_); }

  Patch patch(std::shared_ptr<const Graph> body, const std::vector<ValueId>& inputs, std::size_t count) const {
    Patch patch(graph_, fmt::format("{} ({}) with {} before it", node().name, node().op, count));
    Node fused{.domain = "saccade", .op = "Fused", .name = node().name, .inputs = inputs, .stage = node().stage};
    fused.attributes.set("body", std::move(body));
    const Layout layout = graph_.value(output_of(node())).layout;
    patch.replace(output_of(node()), patch.add_node_with_output(std::move(fused), {}, layout));
    return patch;
  }

  bool fuses(NodeId id) const {
    const Node& one = graph_.node(id);
    return one.stage == node().stage && context_.target.can_fuse(graph_, one);
  }

  /// For each input that the root takes in, its producers: one that computes it, and the views after it.
  std::vector<std::set<NodeId>> parts_before() const {
    std::vector<std::set<NodeId>> parts;
    bool all = true;
    for (ValueId input : node().inputs) {
      if (input == ValueId::kNone || graph_.constant(input) != nullptr) continue;
      if (auto part = part_before(input); !part.empty())
        parts.push_back(std::move(part));
      else
        all = false;
    }
    // Producers of a Concat's other inputs may write in place, which fusion would prevent.
    if (node().is("Concat") && !all) parts.clear();
    return parts;
  }

  std::set<NodeId> part_before(ValueId id) const {
    std::set<NodeId> part;
    for (;;) {
      const NodeId producer = graph_.value(id).producer;
      if (!graph_.alive(producer) || !fuses(producer) || !serves_fused_alone(producer)) return {};
      part.insert(producer);
      if (!is_free(graph_, graph_.node(producer))) return is_cheap(producer) ? part : std::set<NodeId>{};
      id = graph_.node(producer).inputs[0];
    }
  }

  /// Whether no node needs the outputs in memory.
  bool serves_fused_alone(NodeId id) const {
    return std::ranges::all_of(graph_.node(id).outputs, [&](ValueId output) {
      if (output == ValueId::kNone) return true;
      return !graph_.is_output(output) && std::ranges::all_of(graph_.users(output), [&](NodeId user) {
        return is_free(graph_, graph_.node(user)) ? fuses(user) && serves_fused_alone(user) : takes_in(user);
      });
    });
  }

  bool takes_in(NodeId id) const {
    const Node& reader = graph_.node(id);
    if (!fuses(id) || reader.outputs.size() != 1) return false;
    return !reader.is("Concat") || std::ranges::all_of(reader.inputs, [&](ValueId input) {
      return graph_.constant(input) != nullptr || is_worked_out(input);
    });
  }

  /// Whether the value is computed by a node that can be fused, or is a view of such a value.
  bool is_worked_out(ValueId id) const {
    for (;;) {
      const NodeId producer = graph_.value(id).producer;
      if (!graph_.alive(producer) || !fuses(producer)) return false;
      if (!is_free(graph_, graph_.node(producer))) return true;
      id = graph_.node(producer).inputs[0];
    }
  }

  /// Whether recomputation in all readers is cheap.
  bool is_cheap(NodeId id) const {
    const Node& producer = graph_.node(id);
    std::int64_t extra = 0;
    for (ValueId output : producer.outputs)
      if (output != ValueId::kNone) extra += uses(graph_, output) - graph_.value(output).type.shape.elements();
    return extra * steps_of(producer) <= kMaxExtraSteps;
  }

  const PassContext& context_;
  const Graph& graph_;
  NodeId root_;
};

}  // namespace

std::optional<Patch> fuse_elements(const PassContext& context, NodeId id) {
  if (!context.target.can_fuse) return {};
  return Fusion(context, id).patch();
}

}  // namespace saccade
