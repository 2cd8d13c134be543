#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "graph/attributes.hpp"
#include "tensor/view.hpp"

namespace saccade {

enum class ValueId : std::int32_t { kNone = -1 };  ///< kNone: an optional input that is left out
enum class NodeId : std::int32_t { kNone = -1 };

/// Type and shape of a value. Shapes are known: symbolic dimensions are bound when a model is read.
struct TensorType {
  DType dtype = DType::kFloat32;
  Shape shape;
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

/// Affine quantisation: real = scale * (stored - zero_point), one a tensor or one a slice of AXIS.
struct Quantization {
  std::vector<float> scale;
  std::vector<std::int32_t> zero_point;
  int axis = 0;
};

/// What flows along an edge: a node's output, a graph input, or a constant.
struct Value {
  std::string name;
  TensorType type;
  Layout layout = Layout::kRowMajor;
  std::optional<Tensor> constant;
  std::optional<Quantization> quantization;
  NodeId producer = NodeId::kNone;
};

/// An operation applied in place to a node's only output, right after it: y = OP(y) or y = OP(y, inputs[operand]).
/// OP is a unary element-wise ONNX name, "Silu", "Gelu", or "Add", "Mul" with an operand of the output's own shape.
struct PostOp {
  std::string op;
  float alpha = 0;
  float beta = 0;
  int operand = -1;
};
/// A node has no more of them: oneDNN takes 32, two for some of ours, and a chain of any length must not end in one
/// node.
inline constexpr std::size_t kMaxPostOps = 16;

/// Which part of the pipeline a node belongs to; what a profile sums up by.
enum class Stage : std::uint8_t { kPre, kModel, kPost };
std::string_view to_string(Stage stage);

struct Node {
  std::string domain;  ///< "" for ONNX's own, "com.microsoft", "saccade"
  std::string op;
  std::string name;
  std::vector<ValueId> inputs;   ///< kNone where an optional one is left out
  std::vector<ValueId> outputs;  ///< kNone where an optional one is not asked for
  Attributes attributes;
  std::vector<PostOp> post_ops;
  Stage stage = Stage::kModel;

  bool is(std::string_view wanted, std::string_view wanted_domain = "") const {
    return op == wanted && domain == wanted_domain;
  }
};

/// Only the first elements of output number OUTPUT along AXIS are valid: as many as output number COUNT, an int64 [] or
/// int32 [1], says. The others are unspecified.
struct Extent {
  std::size_t output = 0;
  int axis = 0;
  std::size_t count = 0;
  friend bool operator==(const Extent&, const Extent&) = default;
};

class Patch;

/// A model as a data-flow graph in SSA form: every value has one producer. Ids stay valid while nodes come and go.
/// Operators are in the form of the newest opset that Saccade reads; older ones are upgraded when a model is read.
class Graph {
 public:
  std::string name;
  std::map<std::string, std::string> metadata;  ///< the model file's own key-value pairs

  ValueId add_value(std::string value_name, TensorType type = {});
  ValueId add_constant(std::string value_name, Tensor tensor);
  ValueId add_input(std::string value_name, TensorType type);
  /// The outputs' producer is set.
  NodeId add_node(Node node);
  void add_output(ValueId value) { outputs_.push_back(value); }

  const Value& value(ValueId id) const { return values_[static_cast<std::size_t>(id)]; }
  Value& value(ValueId id) { return values_[static_cast<std::size_t>(id)]; }
  const Node& node(NodeId id) const { return *nodes_[static_cast<std::size_t>(id)]; }
  Node& node(NodeId id) { return *nodes_[static_cast<std::size_t>(id)]; }
  bool alive(NodeId id) const { return id != NodeId::kNone && nodes_[static_cast<std::size_t>(id)].has_value(); }
  std::size_t value_count() const { return values_.size(); }
  std::size_t node_count() const;

  std::span<const ValueId> inputs() const { return inputs_; }
  std::span<const ValueId> outputs() const { return outputs_; }
  /// The outputs' extents go.
  void set_outputs(std::vector<ValueId> outputs);
  /// Outputs whose size depends on the data; their shapes hold as much as there can be.
  std::span<const Extent> extents() const { return extents_; }
  /// Every count stands behind all outputs that are none.
  void set_extents(std::vector<Extent> extents) { extents_ = std::move(extents); }
  /// The outputs without the counts.
  std::span<const ValueId> answers() const;
  void set_inputs(std::vector<ValueId> inputs) { inputs_ = std::move(inputs); }
  bool is_output(ValueId id) const;
  bool is_input(ValueId id) const;

  /// Live nodes, every producer before its consumers, otherwise in the order of adding.
  /// Throws Error (kInvalidFile) naming a node on a cycle.
  std::vector<NodeId> order() const;
  /// Live nodes that read the value; a node that reads it twice stands there once. Valid until the graph changes.
  const std::set<NodeId>& users(ValueId id) const { return users_[static_cast<std::size_t>(id)]; }
  /// The node that makes the value, or null for inputs and constants.
  const Node* producer(ValueId id) const;
  /// The value if it is a constant, else null; null for kNone.
  const Tensor* constant(ValueId id) const;

  /// Replaces parts of the graph (patch.hpp) and drops nodes that nothing reads any more. Returns the patch's own
  /// nodes.
  std::vector<NodeId> apply(const Patch& patch);
  /// Frees the elements of constants that nothing reads.
  void release_unread_constants();

 private:
  void remove_if_dead(NodeId id);
  void move_readers(ValueId old, ValueId replacement);
  void link(NodeId id);
  void unlink(NodeId id);

  std::vector<Value> values_;
  std::vector<std::optional<Node>> nodes_;
  // By value. Sets: of a million readers each may go on its own.
  std::vector<std::set<NodeId>> users_;
  std::vector<ValueId> inputs_;
  std::vector<ValueId> outputs_;
  std::vector<Extent> extents_;
};

}  // namespace saccade
