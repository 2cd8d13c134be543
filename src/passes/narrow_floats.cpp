#include "passes/narrow_floats.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "ops/core/values.hpp"
#include "ops/elementwise/cast.hpp"
#include "passes/core/match.hpp"

// Converts float32 networks to half precision for devices that multiply it faster. Convolutions and GEMMs read and
// write half precision, and so does every node that leads to one: most of a network, if the target has kernels for it.
// Nodes after the last of them stay in float32. Half precision saves nothing there, and box coordinates would lose
// accuracy: from 1024 on, fp16 has a spacing of one pixel. Sampling coordinates stay in float32, and so do values on
// the keep list and nodes with a constant that fp16 can't represent. Weights are rounded here, once, after all folding.
namespace saccade {
namespace {

/// Whether a constant overflows in fp16, or is a nonzero scalar, such as an epsilon, that becomes 0.
bool is_lost_in_float16(const Tensor& constant) {
  constexpr float kOverflows = 65520;
  constexpr float kRoundsToZero = 0x1p-25F;
  const auto numbers = constant.data<float>();
  if (numbers.size() == 1 && numbers[0] != 0 && std::abs(numbers[0]) <= kRoundsToZero) return true;
  return std::ranges::any_of(numbers, [](float x) { return std::abs(x) >= kOverflows && std::isfinite(x); });
}

class Narrowing {
 public:
  Narrowing(const Graph& graph, const Target& target, const MixedPrecision& precision)
      : graph_(graph), precision_(precision), to_(*precision.half), patch_(graph, "compute in half precision") {
    std::vector<NodeId> order = graph.order();
    std::ranges::reverse(order);
    for (NodeId id : order)
      if (may_narrow(graph.node(id)) &&
          (traits_of(graph.node(id)).is_float_product() || leads_to_product(graph.node(id))) &&
          (!target.has_half_kernel || target.has_half_kernel(graph, graph.node(id), to_)))
        narrowed_.insert(id);
  }

  /// The values to be converted, without constants.
  ValueNames values() const {
    ValueNames names;
    for (NodeId id : narrowed_) {
      const Node& node = graph_.node(id);
      for (std::size_t i = 0; i < node.inputs.size(); ++i)
        if (is_float_operand(node, i) && is_float32(graph_, node.inputs[i]) &&
            graph_.constant(node.inputs[i]) == nullptr)
          names.insert(graph_.value(node.inputs[i]).name);
      for (ValueId output : node.outputs)
        if (output != ValueId::kNone) names.insert(graph_.value(output).name);
    }
    return names;
  }

  /// The products to be converted, in order.
  std::vector<NodeId> products() const {
    std::vector<NodeId> products;
    for (const NodeId id : graph_.order())
      if (narrowed_.contains(id) && traits_of(graph_.node(id)).is_float_product()) products.push_back(id);
    return products;
  }

  std::optional<Patch> patch() {
    if (narrowed_.empty()) return {};
    for (NodeId id : graph_.order())
      if (narrowed_.contains(id)) narrow(id);
    for (const auto& [wide, half] : made_) serve_others(wide, half);
    return std::move(patch_);
  }

 private:
  bool may_narrow(const Node& node) const {
    if (node.stage != Stage::kModel || traits_of(node).float_inputs == 0) return false;
    if (precision_.keep_fp32.products.contains(node.name)) return false;
    bool reads = false;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] == ValueId::kNone || !is_float_operand(node, i)) continue;
      const DType dtype = graph_.value(node.inputs[i]).type.dtype;
      reads = reads || dtype == DType::kFloat32;
      if (stays_fp32(node.inputs[i]) || loses(node, node.inputs[i])) return false;
      // A node with several floating-point types defines its own computation type.
      if (dtype == DType::kFloat16 || dtype == DType::kBFloat16 || dtype == DType::kFloat64) return false;
    }
    return reads && std::ranges::all_of(node.outputs, [&](ValueId id) {
             return id == ValueId::kNone || (graph_.value(id).type.dtype == DType::kFloat32 && !stays_fp32(id));
           });
  }

  bool stays_fp32(ValueId id) const { return precision_.keep_fp32.values.contains(graph_.value(id).name); }

  bool loses(const Node& node, ValueId id) const {
    const Tensor* constant = graph_.constant(id);
    // A bound of Clip outside the range has no effect.
    if (constant == nullptr || constant->dtype() != DType::kFloat32 || node.op == "Clip") return false;
    return to_ == DType::kFloat16 && is_lost_in_float16(*constant);
  }

  /// Whether an output is an operand of a narrowed node.
  bool leads_to_product(const Node& node) const {
    for (ValueId output : node.outputs) {
      if (output == ValueId::kNone) continue;
      for (NodeId user : graph_.users(output)) {
        const Node& reader = graph_.node(user);
        for (std::size_t i = 0; narrowed_.contains(user) && i < reader.inputs.size(); ++i)
          if (reader.inputs[i] == output && is_float_operand(reader, i)) return true;
      }
    }
    return false;
  }

  void narrow(NodeId id) {
    Node node = graph_.node(id);
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      if (is_float_operand(node, i) && is_float32(graph_, node.inputs[i]))
        node.inputs[i] = half_of(node.inputs[i], node.stage);
    for (ValueId& output : node.outputs) {
      if (output == ValueId::kNone) continue;
      const ValueId old = output;
      output = patch_.add_value(graph_.value(old).name + "/half");
      halves_[old] = output;
      made_.emplace_back(old, output);
    }
    patch_.add_node(std::move(node));
    patch_.drop(id);
  }

  ValueId half_of(ValueId wide, Stage stage) {
    const auto [place, is_new] = halves_.emplace(wide, ValueId::kNone);
    if (!is_new) return place->second;
    if (const ValueId from = widened_from(wide); from != ValueId::kNone) return place->second = from;
    const Tensor* constant = graph_.constant(wide);
    if (constant == nullptr) return place->second = cast(wide, graph_.value(wide).name + "/half", to_, stage);
    Tensor half(to_, constant->shape());
    cast_elements(view_of(*constant), view_of(half));
    return place->second = patch_.add_constant(graph_.value(wide).name + "/half", std::move(half));
  }

  /// The half-precision value that the value was cast from; kNone: it was not.
  ValueId widened_from(ValueId wide) const {
    const Node* producer = graph_.producer(wide);
    const bool is_cast = producer != nullptr && producer->is("Cast") && producer->post_ops.empty();
    return is_cast && graph_.value(producer->inputs[0]).type.dtype == to_ ? producer->inputs[0] : ValueId::kNone;
  }

  ValueId cast(ValueId from, std::string name, DType to, Stage stage) {
    Node node{.op = "Cast", .name = std::move(name), .inputs = {from}, .stage = stage};
    node.attributes.set("to", onnx_of_dtype(to));
    return patch_.add_node_with_output(std::move(node));
  }

  /// Casts back a value that is HALF now for readers in float32 and for graph outputs.
  void serve_others(ValueId wide, ValueId half) {
    if (precision_.half_outputs && graph_.is_output(wide)) patch_.replace_output(wide, half);
    bool is_read = !precision_.half_outputs && graph_.is_output(wide);
    for (NodeId id : graph_.users(wide)) is_read = is_read || reads_wide(id, wide);
    if (!is_read) return;
    const Value& value = graph_.value(wide);
    patch_.replace(wide, cast(half, value.name, DType::kFloat32, graph_.node(value.producer).stage));
  }

  bool reads_wide(NodeId id, ValueId wide) const {
    if (!narrowed_.contains(id)) return true;
    const Node& node = graph_.node(id);
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      if (node.inputs[i] == wide && !is_float_operand(node, i)) return true;
    return false;
  }

  const Graph& graph_;
  const MixedPrecision& precision_;
  DType to_;
  Patch patch_;
  std::set<NodeId> narrowed_;
  std::map<ValueId, ValueId> halves_;              // by float32 value
  std::vector<std::pair<ValueId, ValueId>> made_;  // outputs of narrowed nodes: float32, half
};

}  // namespace

std::optional<Patch> narrow_floats(const PassContext& context) {
  if (!context.precision.half) return {};
  return Narrowing(context.graph, context.target, context.precision).patch();
}

std::vector<NodeId> products_to_narrow(const Graph& graph, const Target& target, const MixedPrecision& precision) {
  return Narrowing(graph, target, precision).products();
}

ValueNames values_to_narrow(const Graph& graph, const Target& target, DType to) {
  return Narrowing(graph, target, {.half = to}).values();
}

}  // namespace saccade
