#include <algorithm>

#include "cuda/codegen/element_tactic.hpp"
#include "cuda/codegen/row_code.hpp"
#include "cuda/tactics/tactics.hpp"

// LayerNormalization and RMSNormalization over trailing dimensions (kernels/normalization.cuh).
namespace saccade::cuda {
namespace {

int first_axis(const NodeContext& context) {
  return InferContext::axis(context.node.attributes.integer("axis", -1), context.input(0).type.shape.rank());
}

Support supports_layer(const NodeContext& context) {
  const Node& node = context.node;
  if (!node.is("LayerNormalization") && !node.is("RMSNormalization"))
    return Support::other_operator("not a LayerNormalization or RMSNormalization");
  if (node.outputs.size() > 1) return Support::no("its mean or deviation outputs are used");
  for (int i = 1; i < 3; ++i) {
    if (!context.has(i)) continue;
    if (!is_computed_in_float(context.input(i).type.dtype)) return Support::no("its parameters are float64");
    if (node.is("LayerNormalization") && context.input(i).layout != Layout::kRowMajor &&
        context.input(i).type.shape.rank() >= 3)
      return Support::no("its parameters are channels-last");
  }
  return supports_rows(context);
}

/// Element of a LayerNormalization's parameter I for element AT.
std::string parameter(ElementCode& code, int i, const Index& at, int axis) {
  const Shape& shape = code.context().input(0).type.shape;
  return code.input_at_offset(
      i, offset_of(Index(at.begin() + axis, at.end()), Shape(std::span(shape).subspan(static_cast<std::size_t>(axis))),
                   Layout::kRowMajor));
}

NodeProgram layer(const NodeContext& context) {
  const Value& input = context.input(0);
  const Shape& shape = input.type.shape;
  const int axis = first_axis(context);
  const bool centred = context.node.is("LayerNormalization");
  std::vector<bool> reduced(static_cast<std::size_t>(shape.rank()), false);
  std::fill(reduced.begin() + axis, reduced.end(), true);
  const RowPlan plan(shape, input.layout, reduced);
  NodeProgram program;
  ElementCode code(context);
  RowKernel kernel{.header = "normalization.cuh"};
  kernel.load = code.input_at_offset(0, "from");
  const Index at = declare_index(code, "at", shape, input.layout);
  kernel.stored = "x * " + (centred ? parameter(code, 1, at, axis) : code.broadcast(1, at));
  if (centred && context.has(2)) kernel.stored += " + " + parameter(code, 2, at, axis);
  kernel.stored = code.post_ops(kernel.stored, "at");
  kernel.before = code.body();
  kernel.body = fmt::format("normalize<Rows, {}>({}, shared, load, store)", centred,
                            literal(context.node.attributes.real("epsilon", 1e-5F)));
  program.calls.push_back(row_kernel(code, plan, kernel, 0, program));
  return program;
}

}  // namespace

std::unique_ptr<Tactic> layer_normalization(Device& device) {
  return program_tactic(device, {"lines.layer_normalization", supports_layer, layer});
}

}  // namespace saccade::cuda
