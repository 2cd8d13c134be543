#include "ops/infer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "ops/einsum_equation.hpp"
#include "ops/interpret.hpp"

namespace saccade {
namespace {

// Far beyond what shapes and axes take; a small file can ask for terabytes of zeros.
constexpr std::size_t kMaxBytes = std::size_t{64} << 20;
// A few seconds of reference kernels, for all values together: small tensors can be multiplied for days.
constexpr double kMaxSteps = 2e9;
// Far beyond real chains of shape arithmetic; a hostile file's would end the stack.
constexpr int kMaxDepth = 1024;

/// Shape's and Size's answers are known without their input's contents.
bool needs_contents(const Node& node) { return !node.is("Shape") && !node.is("Size"); }

/// Runs such a node on an input that has a type only.
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

std::string describe(const Node& node) {
  return fmt::format("node '{}' ({}{}{})", node.name, node.domain, node.domain.empty() ? "" : ".", node.op);
}

std::size_t bytes_of_outputs(const Graph& graph, const Node& node) {
  std::size_t bytes = 0;
  for (ValueId output : node.outputs)
    if (output != ValueId::kNone) bytes += bytes_of(graph.value(output).type.dtype, graph.value(output).type.shape);
  return bytes;
}

/// About how many multiplications, comparisons or copies the node's reference kernel makes.
double steps_of(const Graph& graph, const Node& node) {
  constexpr std::array<std::string_view, 4> kProducts = {"Conv", "MatMul", "Gemm", "Attention"};
  double steps = 0;
  for (ValueId output : node.outputs)
    if (output != ValueId::kNone) steps += static_cast<double>(graph.value(output).type.shape.elements());
  std::vector<Shape> inputs;
  for (ValueId input : node.inputs)
    if (input != ValueId::kNone) inputs.push_back(graph.value(input).type.shape);
  if (node.is("Einsum")) {
    steps = 1;
    for (const auto& [label, extent] : read_einsum(node.attributes, inputs).extents)
      steps *= static_cast<double>(extent);
    return steps;
  }
  std::vector<double> sizes{0, 0};
  for (const Shape& input : inputs) sizes.push_back(static_cast<double>(input.elements()));
  std::ranges::sort(sizes, std::greater());
  if (node.is("NonMaxSuppression")) return sizes[0] * sizes[0];
  // Without a sampling_ratio the regions' sizes decide how many samples a bin takes, up to this along each side.
  if (node.is("RoiAlign")) {
    const auto samples = static_cast<double>(node.attributes.integer("sampling_ratio", 0));
    return steps * (samples == 0 ? 4096.0 * 4096.0 : samples * samples);
  }
  // Matrices of M x K and K x N make one of M x N in M x K x N steps: the root of the product of the three sizes.
  const auto in_name = [&](std::string_view part) { return node.op.find(part) != std::string::npos; };
  if (std::ranges::any_of(kProducts, in_name)) return std::max(steps, std::sqrt(steps * sizes[0] * sizes[1]));
  for (std::int64_t size : node.attributes.integers("kernel_shape")) steps *= static_cast<double>(size);
  return steps;
}

}  // namespace

const Tensor* KnownValues::get(ValueId id) {
  if (id == ValueId::kNone) return nullptr;
  if (const Tensor* constant = graph_.constant(id)) return constant;
  if (const auto found = assumed_.find(id); found != assumed_.end()) {
    relied_on_.insert(id);
    return &found->second;
  }
  if (const auto found = computed_.find(id); found != computed_.end()) return found->second ? &*found->second : nullptr;
  // Marks the value as unknown first: a damaged, cyclic graph must not recurse for ever.
  computed_[id] = std::nullopt;
  const Node* node = graph_.producer(id);
  if (node == nullptr || depth_ == kMaxDepth || bytes_of_outputs(graph_, *node) > kMaxBytes) return nullptr;
  if (!needs_contents(*node)) {
    charge(*node);
    return &computed_[id].emplace(evaluate_type(graph_, *node));
  }
  std::vector<Tensor> inputs;
  for (ValueId input : node->inputs) {
    const Tensor* tensor = get_deeper(input);
    if (tensor == nullptr && input != ValueId::kNone) return nullptr;
    inputs.push_back(tensor == nullptr ? Tensor() : *tensor);
  }
  const double steps = steps_of(graph_, *node);
  if (steps > kMaxSteps - steps_) return nullptr;
  steps_ += steps;
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
    std::vector<const TensorType*> inputs;
    for (ValueId input : node.inputs) inputs.push_back(input == ValueId::kNone ? nullptr : &graph.value(input).type);
    InferContext context(node, std::move(inputs),
                         [&](int i) { return known.get(node.inputs[static_cast<std::size_t>(i)]); });
    op->infer(context);
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
      if (node.outputs[i] != ValueId::kNone && !context.is_set(i))
        fail(ErrorCode::kInvalidFile, "the operator has no output {}", i);
    for (const TensorType& type : context.outputs()) bytes_of(type.dtype, type.shape);
    return context.outputs();
  } catch (const Error& error) {
    throw error.in(describe(node));
  }
}

void infer_types(Graph& graph) {
  KnownValues known(graph);
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    const auto types = infer_node(graph, node, known);
    for (std::size_t i = 0; i < types.size(); ++i)
      if (node.outputs[i] != ValueId::kNone) graph.value(node.outputs[i]).type = types[i];
  }
}

}  // namespace saccade
