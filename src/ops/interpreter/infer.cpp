#include "ops/interpreter/infer.hpp"

#include "graph/print.hpp"
#include "ops/interpreter/cost.hpp"
#include "ops/interpreter/interpret.hpp"

namespace saccade {
namespace {

// Far beyond what shapes and axes take; a small file can request terabytes of zeros.
constexpr std::size_t kMaxBytes = std::size_t{64} << 20;
// A few seconds of reference kernels, for all values together: small tensors can be multiplied for days. In addition,
// each constant element of the model may be processed a few times.
constexpr double kMaxSteps = 5e8;
constexpr double kMaxStepsPerElement = 64;
// Far beyond real chains of shape arithmetic; a hostile file's would overflow the stack.
constexpr int kMaxDepth = 1024;

/// Runs a node that reads only its input's shape.
Tensor evaluate_type(const Graph& graph, const Node& node) {
  const TensorType& in = graph.value(node.inputs[0]).type;
  const TensorType& out = graph.value(node.outputs[0]).type;
  std::byte unread{};
  const TensorView input{.data = &unread, .dtype = in.dtype, .shape = in.shape};
  Tensor result(out.dtype, out.shape);
  const TensorView output = view_of(result);
  find_op(node.domain, node.op)->reference(KernelContext(node, {&input, 1}, {&output, 1}));
  return result;
}

std::size_t bytes_of_outputs(const Graph& graph, const Node& node) {
  std::size_t bytes = 0;
  for (ValueId output : node.outputs)
    if (output != ValueId::kNone) bytes += bytes_of(graph.value(output).type.dtype, graph.value(output).type.shape);
  return bytes;
}

}  // namespace

KnownValues::KnownValues(const Graph& graph, MemoryBudget* budget)
    : graph_(graph), budget_(budget), steps_left_(kMaxSteps) {
  for (std::size_t i = 0; i < graph.value_count(); ++i)
    if (const Tensor* constant = graph.constant(static_cast<ValueId>(i)))
      steps_left_ += kMaxStepsPerElement * static_cast<double>(constant->elements());
}

bool KnownValues::afford(double steps) {
  if (steps > steps_left_) return false;
  steps_left_ -= steps;
  return true;
}

const Tensor* KnownValues::get(ValueId id) {
  if (id == ValueId::kNone) return nullptr;
  if (const Tensor* constant = graph_.constant(id)) return constant;
  if (const auto found = assumed_.find(id); found != assumed_.end()) {
    relied_on_.insert(id);
    return &found->second;
  }
  if (const auto found = computed_.find(id); found != computed_.end()) return found->second ? &*found->second : nullptr;
  // Marks the value as unknown first: a damaged, cyclic graph must not recurse forever.
  computed_[id] = std::nullopt;
  const Node* node = graph_.producer(id);
  // Post-op operands are not checked against the output while types are being inferred.
  if (node == nullptr || !node->post_ops.empty() || depth_ == kMaxDepth || bytes_of_outputs(graph_, *node) > kMaxBytes)
    return nullptr;
  if (traits_of(*node).reads == Reads::kShape) {
    if (!afford(static_cast<double>(bytes_of_outputs(graph_, *node)))) return nullptr;
    charge(*node);
    return &computed_[id].emplace(evaluate_type(graph_, *node));
  }
  std::vector<Tensor> inputs;
  for (ValueId input : node->inputs) {
    const Tensor* tensor = get_deeper(input);
    if (tensor == nullptr && input != ValueId::kNone) return nullptr;
    inputs.push_back(tensor == nullptr ? Tensor() : *tensor);
  }
  if (!afford(steps_of(graph_, *node))) return nullptr;
  charge(*node);
  std::vector<Tensor> outputs = evaluate(graph_, *node, inputs);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (node->outputs[i] != ValueId::kNone) computed_[node->outputs[i]] = std::move(outputs[i]);
  return get(id);
}

/// Before the outputs are allocated: none is large, but a small file may have any number of them.
void KnownValues::charge(const Node& node) {
  if (budget_ == nullptr) return;
  try {
    budget_->take(bytes_of_outputs(graph_, node));
  } catch (const Error& error) {
    throw error.in(describe(node));
  }
}

const Tensor* KnownValues::get_deeper(ValueId id) {
  ++depth_;
  const Tensor* tensor = get(id);
  --depth_;
  return tensor;
}

std::vector<TensorType> infer_node(const Graph& graph, const Node& node, KnownValues& known) {
  try {
    const Op* op = find_op(node.domain, node.op);
    if (op == nullptr) fail(ErrorCode::kUnsupported, "the operator is not supported");
    check_arity(node, op->traits.arity);
    std::vector<const TensorType*> inputs;
    for (ValueId input : node.inputs) inputs.push_back(input == ValueId::kNone ? nullptr : &graph.value(input).type);
    const auto afford = [&](double steps) { return known.afford(steps); };
    const auto contents = [&](int i) {
      const Tensor* tensor = known.get(node.inputs[static_cast<std::size_t>(i)]);
      // A rule reads all of it.
      if (tensor != nullptr && !afford(static_cast<double>(tensor->elements())))
        fail(ErrorCode::kUnsupported, "the shape arithmetic of this model is too expensive: it would take minutes");
      return tensor;
    };
    InferContext context(node, std::move(inputs), contents, afford);
    for (int i = 0; i < context.input_count(); ++i)
      if (context.has(i) && context.dtype(i) == DType::kFrame && !node.is("Preprocess", "saccade"))
        fail(ErrorCode::kInvalidFile, "input {} is a frame, which only saccade.Preprocess reads", i);
    op->infer(context);
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
      if (node.outputs[i] != ValueId::kNone && !context.is_set(i))
        fail(ErrorCode::kInvalidFile, "the operator has no output {}", i);
    for (const TensorType& type : context.outputs()) {
      if (type.dtype == DType::kFrame) fail(ErrorCode::kInvalidFile, "an operator can't output a frame");
      bytes_of(type.dtype, type.shape);
    }
    return context.outputs();
  } catch (const Error& error) {
    throw error.in(describe(node));
  }
}

void infer_types(Graph& graph, MemoryBudget* budget) {
  KnownValues known(graph, budget);
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    const auto types = infer_node(graph, node, known);
    for (std::size_t i = 0; i < types.size(); ++i)
      if (node.outputs[i] != ValueId::kNone) graph.value(node.outputs[i]).type = types[i];
  }
}

}  // namespace saccade
