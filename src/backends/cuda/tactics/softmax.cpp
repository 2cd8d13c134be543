#include "cuda/codegen/element_tactic.hpp"
#include "cuda/codegen/line_code.hpp"
#include "cuda/tactics/tactics.hpp"

// Softmax and LogSoftmax along any axis (kernels/normalization.cuh).
namespace saccade::cuda {
namespace {

Support supports_softmax(const NodeContext& context) {
  if (!context.node.is("Softmax") && !context.node.is("LogSoftmax")) return Support::other_operator("not a Softmax");
  return supports_lines(context);
}

NodeProgram softmax(const NodeContext& context) {
  const Value& input = context.input(0);
  LinePlan plan(input.type.shape, input.layout,
                marked({context.node.attributes.integer("axis", -1)}, input.type.shape.rank()));
  plan.read_by(context.input_place(0).strides);
  NodeProgram program;
  ElementCode code(context);
  LineKernel kernel{.header = "normalization.cuh"};
  kernel.load = code.input_at_offset(0, "from");
  kernel.stored = code.post_ops("x", "at");
  kernel.before = code.body();
  kernel.body = context.node.is("LogSoftmax") ? "soften<Lines, true>(shared, load, store)"
                                              : "soften<Lines, false>(shared, load, store)";
  program.calls.push_back(line_kernel(code, plan, kernel, 0, program));
  return program;
}

}  // namespace

std::unique_ptr<Tactic> line_softmax(Device& device) {
  return program_tactic(device, {"lines.softmax", supports_softmax, softmax, strides_input_alone});
}

}  // namespace saccade::cuda
