#include "op_case/built_case.hpp"
#include "op_case/op_case.hpp"
#include "runtime/cuda_backend.hpp"

// A case on the emulated or real GPU: a plan of one node.
namespace saccade {
void OpCase::check_cuda(std::string_view tactic, Tolerance tolerance, Layout layout) const {
  const Built built = build(layout);
  std::map<std::string, Tensor> inputs;
  const Node& node = built.graph.node(built.node);
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    if (node.inputs[i] != ValueId::kNone) inputs[built.graph.value(node.inputs[i]).name] = built.inputs[i];
  const std::vector<Tensor> wanted = wanted_of(built);
  for (const bool captured : {true, false}) {
    const Backend& backend = cuda_backend({.fallback = tactic.empty() || tactic == "host", .graph = captured});
    CompileOptions options;
    if (!tactic.empty()) options.tactics = {std::string(tactic)};
    expect_outputs(Plan::compile(built.graph, backend, options), inputs, wanted, tolerance, defined_,
                   captured ? "captured" : "call by call");
  }
}

}  // namespace saccade
