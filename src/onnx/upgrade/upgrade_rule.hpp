#pragma once

#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "onnx/sizes/extents.hpp"

namespace saccade {

/// One node on its way to the newest form. A rule edits `node`; nodes to stand before it are added at once.
class Upgrade {
 public:
  /// GRAPH is the one that the node is to be part of; WANTED says of each output whether anything reads it.
  Upgrade(Graph& graph, KnownValues& known, Extents& extents, Node rewritten, std::vector<bool> wanted)
      : node(std::move(rewritten)), graph_(graph), known_(known), extents_(extents), wanted_(std::move(wanted)) {}

  Node node;

  bool has(std::size_t input) const { return input < node.inputs.size() && node.inputs[input] != ValueId::kNone; }
  /// Throws Error (kInvalidFile) where the input is left out.
  const TensorType& type(std::size_t input) const;
  const Shape& shape(std::size_t input) const { return type(input).shape; }
  const TensorType& type_of(ValueId value) const { return graph_.value(value).type; }
  /// The input's contents, or null where they depend on the model's inputs.
  const Tensor* known(std::size_t input) const { return has(input) ? known_.get(node.inputs[input]) : nullptr; }
  /// Whether anything reads the output.
  bool wants(std::size_t output) const { return output < wanted_.size() && wanted_[output]; }

  /// Makes TENSOR, named WHAT, a constant of the graph.
  ValueId constant(std::string_view what, Tensor tensor);
  /// VALUE in the type of the first input, a floating-point one.
  Tensor scalar_like(float value) const;
  /// Makes TENSOR, named WHAT, input number AT.
  void set_input(std::size_t at, std::string_view what, Tensor tensor);
  /// Makes VALUE, which a node before gives, output number AT.
  void give(std::size_t at, ValueId value);
  /// Adds a node, named WHAT, of one output; infers its type and returns it.
  ValueId before(std::string_view what, Node added);
  /// The same for a Reshape or an Expand to SHAPE.
  ValueId reshaped(std::string_view what, ValueId input, const Shape& shape) {
    return to_shape("Reshape", what, input, shape);
  }
  ValueId expanded(std::string_view what, ValueId input, const Shape& shape) {
    return to_shape("Expand", what, input, shape);
  }

 private:
  ValueId to_shape(std::string op, std::string_view what, ValueId input, const Shape& shape);

  Graph& graph_;
  KnownValues& known_;
  Extents& extents_;
  std::vector<bool> wanted_;
};

/// Adds NODE, whose outputs are values of GRAPH, and sets their types. Throws Error naming the node.
void add_inferred(Graph& graph, KnownValues& known, Extents& extents, Node node);

/// Of a rule for every operator set.
inline constexpr std::int64_t kAlways = std::numeric_limits<std::int64_t>::max();

/// How an operator gets from one form to the next.
struct UpgradeRule {
  std::string_view op;
  std::int64_t until;  ///< applies to nodes of operator sets before this one
  void (*apply)(Upgrade&);
};

// A node passes every rule of its operator, the first table's first, from the top to the bottom.

/// Attributes that became inputs.
std::span<const UpgradeRule> argument_rules();
/// Everything else: defaults and meanings that changed, operators that were replaced.
std::span<const UpgradeRule> meaning_rules();
/// BatchNormalization in training mode as one with statistics that the nodes before it work out.
void measure_batch_norm(Upgrade& upgrade);

/// Operators of com.microsoft in terms of ONNX's own; a node passes the one rule of its operator.
std::span<const UpgradeRule> microsoft_rules();
void open_multi_head_attention(Upgrade& upgrade);
void open_quantized_gemm(Upgrade& upgrade);

}  // namespace saccade
