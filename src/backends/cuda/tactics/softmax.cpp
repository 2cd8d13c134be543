#include "cuda/codegen/element_tactic.hpp"
#include "cuda/codegen/row_code.hpp"
#include "cuda/tactics/tactics.hpp"

// Softmax and LogSoftmax along any axis (kernels/normalization.cuh).
namespace saccade::cuda {
namespace {

Support supports_softmax(const NodeContext& context) {
  if (!context.node.is("Softmax") && !context.node.is("LogSoftmax")) return Support::other_operator("not a Softmax");
  return supports_rows(context);
}

NodeProgram softmax(const NodeContext& context) {
  const Value& input = context.input(0);
  RowPlan plan(input.type.shape, input.layout,
               axis_mask({context.node.attributes.integer("axis", -1)}, input.type.shape.rank()));
  plan.set_input_strides(context.input_storage(0).strides);
  NodeProgram program;
  ElementCode code(context);
  RowKernel kernel{.header = "normalization.cuh"};
  kernel.load = code.input_at_offset(0, "from");
  kernel.stored = code.post_ops("x", "at");
  kernel.before = code.body();
  kernel.body = context.node.is("LogSoftmax") ? "softmax<Rows, true>(shared, load, store)"
                                              : "softmax<Rows, false>(shared, load, store)";
  program.calls.push_back(row_kernel(code, plan, kernel, 0, program));
  return program;
}

}  // namespace

std::unique_ptr<Tactic> row_softmax(Device& device) {
  return program_tactic(device, {"lines.softmax", supports_softmax, softmax, only_input_is_strided});
}

}  // namespace saccade::cuda
