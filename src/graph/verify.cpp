#include "graph/verify.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.hpp"
#include "graph/print.hpp"

namespace saccade {
namespace {

std::string describe(const Value& value) {
  return fmt::format("value '{}' ({} {})", value.name, to_string(value.type.dtype), value.type.shape.to_string());
}

class Verifier {
 public:
  explicit Verifier(const Graph& graph) : graph_(graph) {}

  void run() {
    order_ = graph_.order();
    for (NodeId id : order_) check_outputs(id);
    for (NodeId id : order_) check_node(id);
    check_edges();
    check_extents();
    check_readers();
  }

 private:
  bool exists(ValueId id) const { return id >= ValueId{0} && static_cast<std::size_t>(id) < graph_.value_count(); }

  /// The node produces its outputs, and no other node does.
  void check_outputs(NodeId id) {
    const Node& node = graph_.node(id);
    for (ValueId output : node.outputs) {
      if (output == ValueId::kNone) continue;
      const Value& value = graph_.value(output);
      if (!makers_.emplace(output, id).second || value.constant || graph_.is_input(output))
        fail(ErrorCode::kInternal, "{} produces {}, which has another producer", describe(node), describe(value));
      if (value.producer != id)
        fail(ErrorCode::kInternal, "{} produces {}, which names another producer", describe(node), describe(value));
      check_value(value);
    }
  }

  void check_value(const Value& value) const {
    try {
      bytes_of(value.type.dtype, value.type.shape);
    } catch (const Error& error) {
      throw Error(ErrorCode::kInternal, error.in(describe(value)).what());
    }
    if (value.layout == Layout::kChannelsLast && value.type.shape.rank() < 3)
      fail(ErrorCode::kInternal, "{} can't be channels-last: it has fewer than 3 dimensions", describe(value));
    if (!value.constant) return;
    if (value.constant->dtype() != value.type.dtype || value.constant->shape() != value.type.shape)
      fail(ErrorCode::kInternal, "{} is a constant of {} {}", describe(value), to_string(value.constant->dtype()),
           value.constant->shape().to_string());
    if (value.layout != Layout::kRowMajor)
      fail(ErrorCode::kInternal, "{} is a constant and must be row-major", describe(value));
  }

  void check_node(NodeId id) const {
    const Node& node = graph_.node(id);
    if (node.outputs.empty() || node.outputs[0] == ValueId::kNone)
      fail(ErrorCode::kInternal, "{} omits its first output", describe(node));
    for (ValueId input : node.inputs) check_source(input, [&] { return describe(node); });
    if (!node.post_ops.empty() && (node.outputs.size() != 1 || node.outputs[0] == ValueId::kNone))
      fail(ErrorCode::kInternal, "{} has post-ops but not exactly one output", describe(node));
    if (node.post_ops.size() > kMaxPostOps)
      fail(ErrorCode::kInternal, "{} has {} post-ops, more than {}", describe(node), node.post_ops.size(), kMaxPostOps);
    for (const PostOp& post : node.post_ops) check_post_op(node, post);
  }

  /// ID is a valid operand of what READER returns: an input, a constant, or a live node's output (order() has found no
  /// cycle).
  template <typename Reader>
  void check_source(ValueId id, const Reader& reader) const {
    if (id == ValueId::kNone) return;
    const Value& value = graph_.value(id);
    if (value.constant) check_value(value);
    if (!value.constant && !graph_.is_input(id) && !makers_.contains(id))
      fail(ErrorCode::kInternal, "{} reads {}, which has no producer", reader(), describe(value));
  }

  void check_post_op(const Node& node, const PostOp& post) const {
    const bool binary = post.op == "Add" || post.op == "Mul";
    if (binary != (post.operand >= 0))
      fail(ErrorCode::kInternal, "{}: post-op {} has {} operand", describe(node), post.op, binary ? "no" : "an");
    if (!binary) return;
    const auto index = static_cast<std::size_t>(post.operand);
    if (index >= node.inputs.size() || node.inputs[index] == ValueId::kNone)
      fail(ErrorCode::kInternal, "{}: post-op {} reads input {}, which is missing", describe(node), post.op,
           post.operand);
    const Value& operand = graph_.value(node.inputs[index]);
    const Value& output = graph_.value(node.outputs[0]);
    if (operand.type != output.type)
      fail(ErrorCode::kInternal, "{}: post-op {} reads {}, which differs from the output, {}", describe(node), post.op,
           describe(operand), describe(output));
    if (operand.layout != output.layout && !operand.constant)
      fail(ErrorCode::kInternal, "{}: post-op {} reads {}, which has another layout than the output", describe(node),
           post.op, describe(operand));
  }

  /// The graph's inputs and outputs exist, are row-major, and have distinct names.
  void check_edges() const {
    std::map<std::string_view, ValueId> names;
    const auto check = [&](ValueId id) {
      const Value& value = graph_.value(id);
      check_value(value);
      if (value.layout != Layout::kRowMajor)
        fail(ErrorCode::kInternal, "{} is the graph's input or output and must be row-major", describe(value));
      if (const auto [found, fresh] = names.emplace(value.name, id); !fresh && found->second != id)
        fail(ErrorCode::kInternal, "two of the graph's inputs and outputs have the name '{}'", value.name);
    };
    for (ValueId id : graph_.inputs()) {
      if (!exists(id)) fail(ErrorCode::kInternal, "one of the graph's inputs does not exist");
      check(id);
    }
    for (ValueId id : graph_.outputs()) {
      if (!exists(id)) fail(ErrorCode::kInternal, "one of the graph's outputs does not exist");
      check_source(id, [] { return "the graph's output"; });
      check(id);
    }
  }

  /// An extent's count is an output itself, an int64 [] or int32 [1] after all outputs that are not counts.
  void check_extents() const {
    const std::span<const ValueId> outputs = graph_.outputs();
    for (const Extent& extent : graph_.extents()) {
      if (extent.output >= graph_.data_outputs().size() || extent.count >= outputs.size())
        fail(ErrorCode::kInternal, "an extent is of output {} with the count {}, but there are {} outputs",
             extent.output, extent.count, outputs.size());
      const Value& output = graph_.value(outputs[extent.output]);
      const TensorType& count = graph_.value(outputs[extent.count]).type;
      if (extent.axis < 0 || extent.axis >= output.type.shape.rank())
        fail(ErrorCode::kInternal, "{} has an extent along axis {}", describe(output), extent.axis);
      if (count != TensorType{DType::kInt64, {}} && count != TensorType{DType::kInt32, {1}})
        fail(ErrorCode::kInternal, "{} is counted by {} {}", describe(output), to_string(count.dtype),
             count.shape.to_string());
    }
  }

  /// The index of readers agrees with the nodes' inputs.
  void check_readers() const {
    std::map<ValueId, std::set<NodeId>> readers;
    for (NodeId id : order_)
      for (ValueId input : graph_.node(id).inputs)
        if (input != ValueId::kNone) readers[input].insert(id);
    for (std::size_t i = 0; i < graph_.value_count(); ++i) {
      const auto id = static_cast<ValueId>(i);
      const auto found = readers.find(id);
      if (graph_.users(id) != (found == readers.end() ? std::set<NodeId>{} : found->second))
        fail(ErrorCode::kInternal, "the list of readers of {} is wrong", describe(graph_.value(id)));
    }
  }

  const Graph& graph_;
  std::vector<NodeId> order_;
  std::map<ValueId, NodeId> makers_;
};

}  // namespace

void verify(const Graph& graph) { Verifier(graph).run(); }

}  // namespace saccade
