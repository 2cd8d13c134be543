#include "ops/interpreter/interpret.hpp"

#include <array>

namespace saccade {
namespace {

TensorView view_or_null(const Tensor& tensor) { return tensor.empty() ? TensorView{} : view_of(tensor); }

/// The operator's node, without inputs and outputs.
Node node_of(const Op& op, const PostOp& post) {
  Node node{.domain = std::string(op.domain), .op = post.op};
  if (post.op == "Clip") return node;  // its bounds are inputs
  node.attributes.set("alpha", post.alpha);
  node.attributes.set("beta", post.beta);
  return node;
}

void run_post_op(const PostOp& post, const TensorView& output, std::span<const TensorView> operands) {
  const Op* op = find_op(post);
  if (op == nullptr) fail(ErrorCode::kInternal, "post-op '{}' is not an operator", post.op);
  const Node node = node_of(*op, post);
  Tensor low;
  Tensor high;
  std::vector<TensorView> inputs{output};
  if (post.operand >= 0) inputs.push_back(operands[static_cast<std::size_t>(post.operand)]);
  if (post.op == "Clip") {
    low = Tensor::scalar(post.alpha);
    high = Tensor::scalar(post.beta);
    inputs.push_back(view_of(low));
    inputs.push_back(view_of(high));
  }
  op->reference(KernelContext(node, inputs, {&output, 1}));
}

/// Checks with the operator's own shape rule.
void check_post_op(const Graph& graph, const Node& node, const PostOp& post) {
  const Op* op = find_op(post);
  if (op == nullptr || op->reference == nullptr) fail(ErrorCode::kInvalidFile, "it is not an operator");
  const TensorType& output = graph.value(node.outputs[0]).type;
  const TensorType bound;
  std::vector<const TensorType*> inputs{&output};
  if (post.operand >= 0) inputs.push_back(&graph.value(node.inputs[static_cast<std::size_t>(post.operand)]).type);
  if (post.op == "Clip") inputs.insert(inputs.end(), 2, &bound);
  Node made = node_of(*op, post);
  made.inputs.assign(inputs.size(), node.outputs[0]);
  made.outputs = {node.outputs[0]};
  InferContext context(
      made, inputs, [](int) { return nullptr; }, [](double) { return true; });
  op->infer(context);
  if (output.dtype != DType::kFloat32 || context.outputs()[0] != output)
    fail(ErrorCode::kInvalidFile, "it does not preserve {} {}", to_string(output.dtype), output.shape.to_string());
}

}  // namespace

void apply_post_ops(const Node& node, const TensorView& output, std::span<const TensorView> operands) {
  for (const PostOp& post : node.post_ops) run_post_op(post, output, operands);
}

void check_post_ops(const Graph& graph, const Node& node) {
  for (const PostOp& post : node.post_ops) {
    try {
      check_post_op(graph, node, post);
    } catch (const Error& error) {
      throw error.in(fmt::format("node '{}' ({}), post-op '{}'", node.name, node.op, post.op));
    }
  }
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
  // Remaining reads per value: its tensor is freed after the last.
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
