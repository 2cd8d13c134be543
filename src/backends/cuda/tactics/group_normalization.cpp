#include "cuda/codegen/element_tactic.hpp"
#include "cuda/codegen/row_code.hpp"
#include "cuda/tactics/tactics.hpp"

// GroupNormalization and InstanceNormalization in either layout. A row is a group of channels of an image.
namespace saccade::cuda {
namespace {

Support supports_group(const NodeContext& context) {
  if (!context.node.is("GroupNormalization") && !context.node.is("InstanceNormalization"))
    return Support::other_operator("not a GroupNormalization or InstanceNormalization");
  for (int i = 1; i < 3; ++i)
    if (!is_computed_in_float(context.input(i).type.dtype)) return Support::no("its parameters are float64");
  return supports_rows(context);
}

NodeProgram group(const NodeContext& context) {
  const Value& input = context.input(0);
  const Shape& shape = input.type.shape;
  const std::int64_t channels = shape[1];
  const std::int64_t groups =
      context.node.is("InstanceNormalization") ? channels : context.node.attributes.integer("num_groups", 0);
  const std::int64_t members = channels / groups;
  const std::int64_t plane = shape.elements() / shape[0] / channels;
  // The dimensions in memory order.
  const bool channels_last = input.layout == Layout::kChannelsLast && shape.rank() >= 3;
  const RowPlan plan = channels_last
                           ? RowPlan({shape[0], plane, groups, members}, Layout::kRowMajor, {false, true, false, true})
                           : RowPlan({shape[0], groups, members * plane}, Layout::kRowMajor, {false, false, true});
  NodeProgram program;
  ElementCode code(context);
  RowKernel kernel{.header = "normalization.cuh"};
  kernel.load = code.input_at_offset(0, "from");
  const std::string channel = code.let("int32", declare_index(code, "at", shape, input.layout)[1]);
  // Per channel or per group.
  const auto parameter = [&](int i) {
    const bool per_group = context.input(i).type.shape[0] != channels;
    return code.input_at_offset(i, per_group ? fmt::format("{} / {}", channel, members) : channel);
  };
  kernel.stored = "x * " + parameter(1) + " + " + parameter(2);
  kernel.stored = code.post_ops(kernel.stored, "at");
  kernel.before = code.body();
  kernel.body = fmt::format("normalize<Rows, true>({}, shared, load, store)",
                            literal(context.node.attributes.real("epsilon", 1e-5F)));
  program.calls.push_back(row_kernel(code, plan, kernel, 0, program));
  return program;
}

}  // namespace

std::unique_ptr<Tactic> group_normalization(Device& device) {
  return program_tactic(device, {"lines.group_normalization", supports_group, group});
}

}  // namespace saccade::cuda
