#include "ops/interpret.hpp"

#include <array>

namespace saccade {
namespace {

TensorView view_or_null(const Tensor& tensor) { return tensor.empty() ? TensorView{} : view_of(tensor); }

void run_post_op(const PostOp& post, const TensorView& output, std::span<const TensorView> operands) {
  const bool ours = post.op == "Silu";
  const Op* op = find_op(ours ? "saccade" : "", post.op);
  if (op == nullptr) fail(ErrorCode::kInternal, "post-op '{}' is not an operator", post.op);
  Node node{.domain = ours ? "saccade" : "", .op = post.op};
  Tensor low;
  Tensor high;
  std::vector<TensorView> inputs{output};
  if (post.operand >= 0) inputs.push_back(operands[static_cast<std::size_t>(post.operand)]);
  if (post.op == "Clip") {
    low = Tensor::scalar(post.alpha);
    high = Tensor::scalar(post.beta);
    inputs.push_back(view_of(low));
    inputs.push_back(view_of(high));
  } else {
    node.attributes.set("alpha", post.alpha);
    node.attributes.set("beta", post.beta);
  }
  op->reference(KernelContext(node, inputs, {&output, 1}));
}

}  // namespace

void apply_post_ops(const Node& node, const TensorView& output, std::span<const TensorView> operands) {
  for (const PostOp& post : node.post_ops) run_post_op(post, output, operands);
}

std::vector<Tensor> evaluate(const Graph& graph, const Node& node, std::span<const Tensor> inputs) {
  const Op* op = find_op(node.domain, node.op);
  if (op == nullptr || op->reference == nullptr)
    fail(ErrorCode::kUnsupported, "node '{}': the operator {} has no reference kernel", node.name, node.op);
  std::vector<TensorView> in;
  for (const Tensor& input : inputs) in.push_back(view_or_null(input));
  std::vector<Tensor> results(node.outputs.size());
  std::vector<TensorView> out(node.outputs.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (node.outputs[i] == ValueId::kNone) continue;
    const TensorType& type = graph.value(node.outputs[i]).type;
    results[i] = Tensor(type.dtype, type.shape);
    out[i] = view_of(results[i]);
  }
  try {
    op->reference(KernelContext(node, in, out));
    if (!node.post_ops.empty()) apply_post_ops(node, out[0], in);
  } catch (const Error& error) {
    throw error.in(fmt::format("node '{}' ({})", node.name, node.op));
  }
  return results;
}

std::vector<Tensor> interpret(const Graph& graph, const std::map<std::string, Tensor>& inputs) {
  std::map<ValueId, Tensor> values;
  for (ValueId id : graph.inputs()) {
    const Value& input = graph.value(id);
    const auto given = inputs.find(input.name);
    if (given == inputs.end()) fail(ErrorCode::kInvalidArgument, "input '{}' is missing", input.name);
    if (given->second.dtype() != input.type.dtype || given->second.shape() != input.type.shape)
      fail(ErrorCode::kInvalidArgument, "input '{}' is {} {}, not {} {}", input.name, to_string(input.type.dtype),
           input.type.shape.to_string(), to_string(given->second.dtype()), given->second.shape().to_string());
    values[id] = given->second;
  }
  const auto get = [&](ValueId id) {
    if (id == ValueId::kNone) return Tensor();
    if (const Tensor* constant = graph.constant(id)) return *constant;
    return values.at(id);
  };
  // How many reads of a value are still to come: its tensor goes after the last.
  std::map<ValueId, std::size_t> reads;
  for (NodeId id : graph.order())
    for (ValueId input : graph.node(id).inputs) ++reads[input];
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    std::vector<Tensor> in;
    for (ValueId input : node.inputs) in.push_back(get(input));
    std::vector<Tensor> out = evaluate(graph, node, in);
    for (std::size_t i = 0; i < out.size(); ++i) values[node.outputs[i]] = std::move(out[i]);
    for (ValueId input : node.inputs)
      if (--reads[input] == 0 && !graph.is_output(input)) values.erase(input);
  }
  std::vector<Tensor> outputs;
  for (ValueId id : graph.outputs()) outputs.push_back(get(id));
  return outputs;
}

}  // namespace saccade
