#pragma once

#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "onnx/sizes/extents.hpp"

namespace saccade {

/// One node during its upgrade. A rule edits `node`; nodes that precede it are added at once.
class Upgrade {
 public:
  /// GRAPH receives the node; WANTED says whether each output is read.
  Upgrade(Graph& graph, KnownValues& known, Extents& extents, Node rewritten, std::vector<bool> wanted)
      : node(std::move(rewritten)), graph_(graph), known_(known), extents_(extents), wanted_(std::move(wanted)) {}

  Node node;

  bool has(std::size_t input) const { return input < node.inputs.size() && node.inputs[input] != ValueId::kNone; }
  /// Throws Error (kInvalidFile) if the input is omitted.
  const TensorType& type(std::size_t input) const;
  const Shape& shape(std::size_t input) const { return type(input).shape; }
  const TensorType& type_of(ValueId value) const { return graph_.value(value).type; }
  /// The input's contents, or null if they depend on the model's inputs.
  const Tensor* known(std::size_t input) const { return has(input) ? known_.get(node.inputs[input]) : nullptr; }
  /// Whether the output is read.
  bool wants(std::size_t output) const { return output < wanted_.size() && wanted_[output]; }

  /// Adds TENSOR to the graph as a constant named WHAT.
  ValueId constant(std::string_view what, Tensor tensor);
  /// VALUE in the floating-point type of the first input.
  Tensor scalar_like(float value) const;
  /// Makes TENSOR, named WHAT, input number AT.
  void set_input(std::size_t at, std::string_view what, Tensor tensor);
  /// Makes VALUE, the output of a preceding node, output number AT.
  void give(std::size_t at, ValueId value);
  /// Adds a node with one output, named WHAT, before this one; infers its type and returns the output.
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

/// For rules that apply to every operator set.
inline constexpr std::int64_t kAlways = std::numeric_limits<std::int64_t>::max();

/// Converts an operator from one form to the next.
struct UpgradeRule {
  std::string_view op;
  std::int64_t until;  ///< applies to nodes of operator sets before this one
  void (*apply)(Upgrade&);
};

// A node goes through every rule of its operator: the first table's first, from top to bottom.

/// Attributes that became inputs.
std::span<const UpgradeRule> argument_rules();
/// Everything else: changed defaults and semantics, replaced operators.
std::span<const UpgradeRule> meaning_rules();
/// BatchNormalization in training mode as one in inference mode, with statistics computed by preceding nodes.
void measure_batch_norm(Upgrade& upgrade);

/// com.microsoft's operators in terms of ONNX operators; one rule applies to a node.
std::span<const UpgradeRule> microsoft_rules();
void open_multi_head_attention(Upgrade& upgrade);
void open_quantized_gemm(Upgrade& upgrade);

}  // namespace saccade
