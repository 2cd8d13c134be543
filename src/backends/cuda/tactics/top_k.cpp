#include <algorithm>
#include <bit>

#include "cuda/codegen/element_tactic.hpp"
#include "cuda/codegen/row_code.hpp"
#include "cuda/tactics/tactics.hpp"
#include "ops/core/dispatch.hpp"
#include "ops/core/index.hpp"

// TopK along any axis, one block per row (kernels/top_k.cuh). The output is always sorted.
namespace saccade::cuda {
namespace {

// Reserve for the kernel's static shared memory.
constexpr std::int64_t kSharedBytes = 4096;

int chosen_axis(const NodeContext& context) {
  return axis_of(context.node.attributes, context.input(0).type.shape, -1);
}

std::int64_t chosen_count(const NodeContext& context) {
  for (ValueId id : context.node.outputs)
    if (id != ValueId::kNone) return context.graph.value(id).type.shape[chosen_axis(context)];
  return 0;
}

Support supports_top_k(const Device& device, const NodeContext& context) {
  if (!context.node.is("TopK")) return Support::other_operator("not a TopK");
  const Value& input = context.input(0);
  if (bits_of(input.type.dtype) == 64) return Support::no("its elements have 64 bits");
  for (ValueId id : context.node.outputs)
    if (id != ValueId::kNone && context.graph.value(id).layout != input.layout && input.type.shape.rank() >= 3)
      return Support::no("its input and outputs have different layouts");
  if (chosen_count(context) * 8 > device.shared_memory_bytes() - kSharedBytes)
    return Support::no("k exceeds shared memory");
  if (!context.node.post_ops.empty()) return Support::no("it has post-ops");
  return {};
}

NodeProgram top_k_program(const NodeContext& context) {
  const Value& input = context.input(0);
  const std::int64_t k = chosen_count(context);
  NodeProgram program;
  if (k == 0) return program;
  const auto axes = axis_mask({chosen_axis(context)}, input.type.shape.rank());
  const RowPlan from(input.type.shape, input.layout, axes);
  Shape chosen = input.type.shape;
  chosen[chosen_axis(context)] = k;
  const RowPlan to(chosen, input.layout, axes);
  const auto threads = static_cast<unsigned>(
      std::clamp<std::uint64_t>(std::bit_ceil(static_cast<std::uint64_t>(from.count())) / 4, 32, 1024));
  ElementCode code(context);
  const std::string key_type = is_float(input.type.dtype)           ? "float"
                               : input.type.dtype == DType::kUInt32 ? "uint32"
                                                                    : "int32";
  const std::string load = key_type + "(" + code.input_at_offset(0, "from") + ")";
  std::string parameters = code.parameters();
  std::string stores;
  std::vector<Argument> arguments = code.arguments();
  for (std::size_t i = 0; i < context.node.outputs.size(); ++i) {
    if (context.node.outputs[i] == ValueId::kNone) continue;
    const std::string_view type = storage_name(context.output(static_cast<int>(i)).type.dtype);
    parameters += fmt::format(", {}* __restrict__ out{}", type, i);
    stores += i == 0 ? fmt::format("    out0[To::place(row, i)] = Narrow<{}>::from(x);\n", type)
                     : "    out1[To::place(row, i)] = place;\n";
    arguments.push_back({Argument::Kind::kOutput, i});
  }
  KernelCall call{.name = "top_k"};
  call.source = fmt::format(R"(#include "top_k.cuh"
{}{}extern __shared__ uint64 keys[];
extern "C" __global__ void __launch_bounds__({}) top_k({}) {{
  pdl_wait_and_trigger();
  const auto load = [&](int32 from) {{ return {}; }};
  const auto store = [&](int32 row, int32 i, int32 place, {} x) {{
{}  }};
  find_top<From, {}, {}, {}>(keys, load, store);
}}
)",
                            from.constants("From"), to.constants("To"), threads, parameters, load, key_type, stores,
                            threads, k, context.node.attributes.integer("largest", 1) != 0);
  call.grid = {.blocks = {static_cast<unsigned>(from.rows()), 1, 1},
               .threads = {threads, 1, 1},
               .shared_bytes = static_cast<unsigned>(k * 8)};
  call.arguments = std::move(arguments);
  program.calls.push_back(std::move(call));
  return program;
}

}  // namespace

std::unique_ptr<Tactic> top_k(Device& device) {
  const auto supports = [&device](const NodeContext& context) { return supports_top_k(device, context); };
  return program_tactic(device, {"top_k", supports, top_k_program});
}

}  // namespace saccade::cuda
