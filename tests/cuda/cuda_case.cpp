#include "cuda_case.hpp"

#include <cmath>
#include <cstring>
#include <random>

#include "base/error.hpp"
#include "ops/core/dispatch.hpp"
#include "ops/core/strided_copy.hpp"
#include "ops/interpreter/infer.hpp"
#include "ops/interpreter/interpret.hpp"
#include "runtime/cuda_backend.hpp"
#include "tensor/numbers.hpp"

namespace saccade {
namespace {

Layout laid_out(const Shape& shape, Layout layout) { return shape.rank() >= 3 ? layout : Layout::kRowMajor; }

/// The first DEFINED elements are compared.
void expect_near(const Tensor& got, const Tensor& wanted, CudaTolerance tolerance, std::size_t defined,
                 const std::string& what) {
  ASSERT_EQ(got.dtype(), wanted.dtype()) << what;
  const auto a = numbers_of(got);
  const auto b = numbers_of(wanted);
  ASSERT_TRUE(a && b) << what;
  for (std::size_t i = 0; i < std::min(a->size(), defined); ++i) {
    const double x = (*a)[i];
    const double y = (*b)[i];
    const bool same = x == y || (std::isnan(x) && std::isnan(y));
    ASSERT_TRUE(same || std::abs(x - y) <= tolerance.absolute + tolerance.relative * std::abs(y))
        << what << ": element " << i << " of " << wanted.shape().to_string() << " is " << x << ", not " << y;
  }
}

/// Outputs of a plan, row-major.
std::vector<Tensor> answers_of(Execution& execution, const std::map<std::string, Tensor>& inputs) {
  const Graph& graph = execution.plan().graph();
  execution.poison();
  for (std::size_t i = 0; i < graph.inputs().size(); ++i) {
    const Tensor& tensor = inputs.at(graph.value(graph.inputs()[i]).name);
    if (tensor.dtype() == DType::kFrame) {
      *execution.frame() = *reinterpret_cast<const FrameView*>(tensor.raw());
      continue;
    }
    strided_copy(tensor.dtype(), tensor.shape(), strided(view_of(tensor)), strided(execution.input(i)));
  }
  execution.run();
  return read_data_outputs(execution);
}

/// Runs PLAN twice on poisoned memory, and expects WANTED; DEFINED as CudaCase has it.
void expect_answers(const std::shared_ptr<const Plan>& plan, const std::map<std::string, Tensor>& inputs,
                    const std::vector<Tensor>& wanted, CudaTolerance tolerance,
                    const std::map<std::size_t, std::size_t>& defined, const std::string& what) {
  Execution execution(plan);
  for (const char* run : {"first", "second"}) {
    const std::vector<Tensor> got = answers_of(execution, inputs);
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i)
      expect_near(got[i], wanted[i], tolerance, defined.contains(i) ? defined.at(i) : SIZE_MAX,
                  fmt::format("{}, {} run, output {}", what, run, i));
  }
}

}  // namespace

Tensor random_elements(DType dtype, const Shape& shape, float low, float high, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> reals(low, high);
  Tensor tensor(dtype, shape);
  if (dtype == DType::kBool) {
    for (std::byte& byte : std::span(tensor.raw(), tensor.bytes())) byte = std::byte(random() % 2);
    return tensor;
  }
  with_number(dtype, [&]<typename T>(std::type_identity<T>) {
    for (T& element : tensor.data<T>())
      element = is_float(dtype) ? static_cast<T>(reals(random)) : static_cast<T>(std::floor(reals(random)));
  });
  return tensor;
}

CudaCase::CudaCase(std::string op, std::string domain) { node_ = {.domain = std::move(domain), .op = op, .name = op}; }

CudaCase& CudaCase::input(Tensor tensor) {
  tensors_.push_back(std::move(tensor));
  constant_.push_back(false);
  return *this;
}

CudaCase& CudaCase::input(DType dtype, const Shape& shape, float low, float high) {
  return input(random_elements(dtype, shape, low, high, static_cast<std::uint32_t>(tensors_.size()) + 1));
}

CudaCase& CudaCase::constant(Tensor tensor) {
  input(std::move(tensor));
  constant_.back() = true;
  return *this;
}

CudaCase& CudaCase::constant(const Shape& shape, float low, float high) {
  return constant(random_elements(DType::kFloat32, shape, low, high, static_cast<std::uint32_t>(tensors_.size()) + 1));
}

CudaCase& CudaCase::absent() { return constant(Tensor()); }

CudaCase& CudaCase::attribute(std::string name, Attribute value) {
  node_.attributes.set(std::move(name), std::move(value));
  return *this;
}

CudaCase& CudaCase::outputs(int count) {
  node_.outputs.resize(static_cast<std::size_t>(count));
  return *this;
}

CudaCase& CudaCase::defined(std::size_t output, std::size_t elements) {
  defined_[output] = elements;
  return *this;
}

CudaCase& CudaCase::post(std::string op, float alpha, float beta) {
  node_.post_ops.push_back({std::move(op), alpha, beta});
  return *this;
}

CudaCase& CudaCase::post_with_operand(std::string op) {
  node_.post_ops.push_back({std::move(op), 0, 0, 0});  // build() makes the operand
  return *this;
}

Graph CudaCase::build(Layout layout, std::map<std::string, Tensor>& inputs) const {
  Graph graph;
  Node node = node_;
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    const Tensor& tensor = tensors_[i];
    const std::string name = "in" + std::to_string(i);
    if (tensor.empty()) {
      node.inputs.push_back(ValueId::kNone);
    } else if (constant_[i]) {
      node.inputs.push_back(graph.add_constant(name, tensor));
    } else {
      node.inputs.push_back(graph.add_input(name, {tensor.dtype(), tensor.shape()}));
      graph.value(node.inputs.back()).layout = laid_out(tensor.shape(), layout);
      inputs[name] = tensor;
    }
  }
  if (node.outputs.empty()) node.outputs.resize(1);
  for (std::size_t i = 0; i < node.outputs.size(); ++i) node.outputs[i] = graph.add_value("out" + std::to_string(i));
  KnownValues known(graph);
  Node bare = node;
  bare.post_ops.clear();
  const std::vector<TensorType> types = infer_node(graph, bare, known);
  for (std::size_t i = 0; i < types.size(); ++i) {
    graph.value(node.outputs[i]).type = types[i];
    graph.value(node.outputs[i]).layout = laid_out(types[i].shape, layout);
  }
  for (PostOp& post : node.post_ops) {
    if (post.operand < 0) continue;
    const std::string name = "operand" + std::to_string(node.inputs.size());
    const TensorType& type = types[0];
    post.operand = static_cast<int>(node.inputs.size());
    node.inputs.push_back(graph.add_input(name, type));
    graph.value(node.inputs.back()).layout = laid_out(type.shape, layout);
    inputs[name] = random_elements(type.dtype, type.shape, -1, 1, 99);
  }
  const std::vector<ValueId> outputs = node.outputs;
  graph.add_node(std::move(node));
  for (ValueId output : outputs) graph.add_output(output);
  return graph;
}

void CudaCase::check(const std::string& tactic, CudaTolerance tolerance, Layout layout) const {
  std::map<std::string, Tensor> inputs;
  const Graph graph = build(layout, inputs);
  const std::vector<Tensor> wanted = interpret(graph, inputs);
  for (const bool captured : {true, false}) {
    const Backend& backend = cuda_backend({.fallback = tactic == "host", .graph = captured});
    CompileOptions options;
    options.tactics = {tactic};
    expect_answers(Plan::compile(graph, backend, options), inputs, wanted, tolerance, defined_,
                   fmt::format("{} by {}, {}", node_.op, tactic, captured ? "captured" : "call by call"));
  }
}

std::shared_ptr<const Plan> expect_as_reference(const Graph& graph, CudaTolerance tolerance,
                                                const CompileOptions& options) {
  std::map<std::string, Tensor> inputs;
  for (ValueId id : graph.inputs()) {
    const Value& value = graph.value(id);
    inputs[value.name] =
        random_elements(value.type.dtype, value.type.shape, -1, 1, static_cast<std::uint32_t>(inputs.size()) + 1);
  }
  auto plan = Plan::compile(graph, cuda_backend({}), options);
  expect_answers(plan, inputs, interpret(graph, inputs), tolerance, {}, graph.name);
  return plan;
}

}  // namespace saccade
