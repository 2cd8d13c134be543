#include "graph/verify.hpp"
#include "ops/interpreter/interpret.hpp"

// saccade.Fused: several nodes as one. The attribute "body" is a graph with the node's inputs and outputs. The
// reference kernel runs the body's nodes one by one; a device that generates one kernel need not round intermediates to
// the types of the body's values, half precision in particular.
namespace saccade {
namespace {

std::shared_ptr<const Graph> body_of(const Attributes& attributes) {
  std::shared_ptr<const Graph> body = attributes.graph("body");
  if (body == nullptr) fail(ErrorCode::kInvalidFile, "attribute 'body' is missing");
  return body;
}

void check_inputs(const InferContext& context, const Graph& body) {
  const std::span<const ValueId> inputs = body.inputs();
  if (static_cast<std::size_t>(context.input_count()) != inputs.size())
    fail(ErrorCode::kInvalidFile, "{} inputs for a body of {}", context.input_count(), inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const TensorType& given = context.input(static_cast<int>(i));
    const TensorType& taken = body.value(inputs[i]).type;
    if (given != taken)
      fail(ErrorCode::kInvalidFile, "input {} is {} {}, but its body takes {} {}", i, to_string(given.dtype),
           given.shape.to_string(), to_string(taken.dtype), taken.shape.to_string());
  }
}

void infer_fused(InferContext& context) {
  const std::shared_ptr<const Graph> body = body_of(context.attributes());
  verify(*body);
  check_inputs(context, *body);
  for (NodeId id : body->order()) {
    const Node& node = body->node(id);
    if (node.is("Fused", "saccade")) fail(ErrorCode::kInvalidFile, "a body holds '{}', which has a body", node.name);
    if (const Op* op = find_op(node.domain, node.op); op == nullptr || op->reference == nullptr)
      fail(ErrorCode::kInvalidFile, "a body holds '{}' ({}), which has no reference kernel", node.name, node.op);
  }
  context.require_outputs(body->outputs().size());
  for (std::size_t i = 0; i < body->outputs().size(); ++i) {
    const TensorType& type = body->value(body->outputs()[i]).type;
    context.output(static_cast<int>(i), type.dtype, type.shape);
  }
}

void run_fused(const KernelContext& context) {
  const std::shared_ptr<const Graph> body = body_of(context.attributes());
  std::map<std::string, Tensor> inputs;
  for (int i = 0; i < context.input_count(); ++i) {
    const Value& value = body->value(body->inputs()[static_cast<std::size_t>(i)]);
    Tensor tensor(value.type.dtype, value.type.shape);
    copy_elements(context.input(i), view_of(tensor));
    inputs.emplace(value.name, std::move(tensor));
  }
  const std::vector<Tensor> outputs = interpret(*body, inputs);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    copy_elements(view_of(outputs[i]), context.output(static_cast<int>(i)));
}

constexpr Op kFusedOps[] = {{"saccade", "Fused", infer_fused, run_fused, {.arity = {0, kAnyNumber}}}};

}  // namespace

std::span<const Op> fused_ops() { return kFusedOps; }

}  // namespace saccade
