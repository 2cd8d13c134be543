#include "graph/print.hpp"

#include "base/error.hpp"

namespace saccade {
namespace {

template <typename T>
std::string elements_of(const Tensor& tensor) {
  return fmt::format("{}", fmt::join(tensor.data<T>(), ", "));
}

/// "{1, 2, 3}" for a small constant, "{float32 64x3x3x3}" for a large one.
std::string print_constant(const Tensor& tensor, const PrintOptions& options) {
  std::string text;
  if (static_cast<std::size_t>(tensor.elements()) <= options.max_elements) {
    switch (tensor.dtype()) {
      case DType::kFloat32: text = elements_of<float>(tensor); break;
      case DType::kFloat64: text = elements_of<double>(tensor); break;
      case DType::kInt32: text = elements_of<std::int32_t>(tensor); break;
      case DType::kInt64: text = elements_of<std::int64_t>(tensor); break;
      case DType::kBool: text = elements_of<bool>(tensor); break;
      default: break;
    }
  }
  if (text.empty()) text = fmt::format("{} {}", to_string(tensor.dtype()), tensor.shape().to_string());
  return "{" + text + "}";
}

std::string print_type(const Value& value) {
  return fmt::format("{} {}{}", to_string(value.type.dtype), value.type.shape.to_string(),
                     value.layout == Layout::kChannelsLast ? " nhwc" : "");
}

std::string print_input(const Graph& graph, ValueId id, const PrintOptions& options) {
  if (id == ValueId::kNone) return "-";
  const Tensor* constant = graph.constant(id);
  return constant != nullptr ? print_constant(*constant, options) : graph.value(id).name;
}

std::string print_output(const Graph& graph, ValueId id, const PrintOptions& options) {
  if (id == ValueId::kNone) return "-";
  const Value& value = graph.value(id);
  return options.types ? value.name + ": " + print_type(value) : value.name;
}

std::string print_post_op(const Graph& graph, const Node& node, const PostOp& post) {
  std::string text = " | " + post.op;
  if (post.operand >= 0)
    return text + fmt::format("({})", print_input(graph, node.inputs[static_cast<std::size_t>(post.operand)], {}));
  if (post.alpha != 0 || post.beta != 0) text += fmt::format("({}, {})", post.alpha, post.beta);
  return text;
}

}  // namespace

std::string print(const Graph& graph, const Node& node, const PrintOptions& options) {
  std::string text = fmt::format("{} = {}{}{}(", node.name, node.domain, node.domain.empty() ? "" : ".", node.op);
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    text += (i == 0 ? "" : ", ") + print_input(graph, node.inputs[i], options);
  text += ")";
  if (options.attributes && node.attributes.size() != 0) {
    std::string separator = " [";
    for (const auto& [name, attribute] : node.attributes) {
      text += separator + name + "=" + to_string(attribute);
      separator = ", ";
    }
    text += "]";
  }
  for (const PostOp& post : node.post_ops) text += print_post_op(graph, node, post);
  text += " -> ";
  for (std::size_t i = 0; i < node.outputs.size(); ++i)
    text += (i == 0 ? "" : ", ") + print_output(graph, node.outputs[i], options);
  return text;
}

ReportText print(const Graph& graph, const PrintOptions& options) {
  ReportText text("graph '{}', {} nodes\n", graph.name, graph.node_count());
  for (ValueId id : graph.inputs()) text.add("input  {}\n", print_output(graph, id, options));
  for (NodeId id : graph.order()) text.add("{}\n", print(graph, graph.node(id), options));
  for (ValueId id : graph.outputs()) text.add("output {}\n", print_output(graph, id, options));
  for (const Extent& extent : graph.extents())
    text.add("extent of '{}' along axis {}: '{}'\n", graph.value(graph.outputs()[extent.output]).name, extent.axis,
             graph.value(graph.outputs()[extent.count]).name);
  return text;
}

std::string describe(const Node& node) {
  return fmt::format("node '{}' ({}{}{})", node.name, node.domain, node.domain.empty() ? "" : ".", node.op);
}

}  // namespace saccade
