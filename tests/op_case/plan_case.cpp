#include "op_case/built_case.hpp"
#include "op_case/op_case.hpp"
#include "ops/core/strided_copy.hpp"
#include "ops/interpreter/interpret.hpp"
#include "runtime/cuda_backend.hpp"

// Plans compared with the interpreter.
namespace saccade {
namespace {

/// Outputs of a plan, row-major.
std::vector<Tensor> outputs_of(Execution& execution, const std::map<std::string, Tensor>& inputs) {
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

}  // namespace

void expect_outputs(const std::shared_ptr<const Plan>& plan, const std::map<std::string, Tensor>& inputs,
                    const std::vector<Tensor>& wanted, Tolerance tolerance,
                    const std::map<std::size_t, std::size_t>& defined, const std::string& what) {
  Execution execution(plan);
  for (const char* run : {"first", "second"}) {
    const std::vector<Tensor> got = outputs_of(execution, inputs);
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i)
      expect_near(got[i], wanted[i], tolerance, defined.contains(i) ? defined.at(i) : SIZE_MAX,
                  fmt::format("{}, {} run, output {}", what, run, i));
  }
}

std::shared_ptr<const Plan> expect_as_reference(const Backend& backend, const Graph& graph, Tolerance tolerance,
                                                const CompileOptions& options) {
  std::map<std::string, Tensor> inputs;
  for (ValueId id : graph.inputs()) {
    const Value& value = graph.value(id);
    inputs[value.name] =
        random_elements(value.type.dtype, value.type.shape, -1, 1, static_cast<std::uint32_t>(inputs.size()) + 1);
  }
  auto plan = Plan::compile(graph, backend, options);
  expect_outputs(plan, inputs, interpret(graph, inputs), tolerance, {}, graph.name);
  return plan;
}

std::shared_ptr<const Plan> expect_as_reference(const Graph& graph, Tolerance tolerance,
                                                const CompileOptions& options) {
  return expect_as_reference(cuda_backend({}), graph, tolerance, options);
}

}  // namespace saccade
