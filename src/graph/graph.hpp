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

enum class ValueId : std::int32_t { kNone = -1 };  ///< kNone: an omitted optional input
enum class NodeId : std::int32_t { kNone = -1 };

/// Type and shape of a value. Shapes are static: symbolic dimensions are bound when a model is read.
struct TensorType {
  DType dtype = DType::kFloat32;
  Shape shape;
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

/// Affine quantization: real = scale * (stored - zero_point), per tensor or per slice along AXIS.
struct Quantization {
  std::vector<float> scale;
  std::vector<std::int32_t> zero_point;
  int axis = 0;
};

/// An edge of the graph: a node's output, a graph input, or a constant.
struct Value {
  std::string name;
  TensorType type;
  Layout layout = Layout::kRowMajor;
  std::optional<Tensor> constant;
  std::optional<Quantization> quantization;
  NodeId producer = NodeId::kNone;
};

/// An element-wise operation applied in place to a node's only output: y = OP(y) or y = OP(y, inputs[operand]). OP is a
/// unary element-wise ONNX operator, "Silu", "Gelu", or "Add" or "Mul" with an operand of the output's shape.
struct PostOp {
  std::string op;
  float alpha = 0;
  float beta = 0;
  int operand = -1;
};
/// Limit of post-ops per node: oneDNN takes 32, and some of ours need two of its.
inline constexpr std::size_t kMaxPostOps = 16;

/// The part of the pipeline that a node belongs to; profiles are summed by it.
enum class Stage : std::uint8_t { kPre, kModel, kPost };
std::string_view to_string(Stage stage);

struct Node {
  std::string domain;  ///< "" for ONNX, "com.microsoft", "saccade"
  std::string op;
  std::string name;
  std::vector<ValueId> inputs;   ///< kNone where an optional one is omitted
  std::vector<ValueId> outputs;  ///< kNone where an optional one is not requested
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

/// A model as a data-flow graph in SSA form: every value has one producer. Ids stay valid while nodes are added and
/// removed. Operators have the form of the newest opset that Saccade reads; older ones are upgraded when a model is
/// read.
class Graph {
 public:
  std::string name;
  std::map<std::string, std::string> metadata;  ///< the model file's own key-value pairs

  ValueId add_value(std::string value_name, TensorType type = {});
  ValueId add_constant(std::string value_name, Tensor tensor);
  ValueId add_input(std::string value_name, TensorType type);
  /// Sets the producer of the node's outputs.
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
  /// Clears the outputs' extents.
  void set_outputs(std::vector<ValueId> outputs);
  /// Outputs of data-dependent size; their shapes are capacities.
  std::span<const Extent> extents() const { return extents_; }
  /// Counts come after all other outputs.
  void set_extents(std::vector<Extent> extents) { extents_ = std::move(extents); }
  /// The outputs without the counts.
  std::span<const ValueId> data_outputs() const;
  void set_inputs(std::vector<ValueId> inputs) { inputs_ = std::move(inputs); }
  bool is_output(ValueId id) const;
  bool is_input(ValueId id) const;

  /// Live nodes in topological order, otherwise in the order of insertion. Throws Error (kInvalidFile) naming a node on
  /// a cycle.
  std::vector<NodeId> order() const;
  /// Live nodes that read the value, each once. Valid until the graph changes.
  const std::set<NodeId>& users(ValueId id) const { return users_[static_cast<std::size_t>(id)]; }
  /// The node that produces the value, or null for inputs and constants.
  const Node* producer(ValueId id) const;
  /// The value if it is a constant, else null; null for kNone.
  const Tensor* constant(ValueId id) const;

  /// Applies the patch (patch.hpp) and removes nodes that are no longer read. Returns the patch's own nodes.
  std::vector<NodeId> apply(const Patch& patch);
  /// Frees the elements of constants without readers.
  void release_unread_constants();

 private:
  void remove_if_dead(NodeId id);
  void move_readers(ValueId old, ValueId replacement);
  void link(NodeId id);
  void unlink(NodeId id);

  std::vector<Value> values_;
  std::vector<std::optional<Node>> nodes_;
  // By ValueId. Sets, because a value may have a million readers, and each can be removed on its own.
  std::vector<std::set<NodeId>> users_;
  std::vector<ValueId> inputs_;
  std::vector<ValueId> outputs_;
  std::vector<Extent> extents_;
};

}  // namespace saccade
