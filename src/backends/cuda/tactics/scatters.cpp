#include "cuda/codegen/element_tactic.hpp"
#include "cuda/tactics/tactics.hpp"
#include "ops/core/dispatch.hpp"
#include "ops/core/index.hpp"

// ScatterElements and ScatterND: a copy of the data, then one thread per update. With a reduction, updates are applied
// atomically in any order. Without one, duplicate indices are undefined, as ONNX specifies.
namespace saccade::cuda {
namespace {

constexpr unsigned kUpdateThreads = 256;

Support supports_scatter(const NodeContext& context) {
  const Node& node = context.node;
  if (!node.is("ScatterElements") && !node.is("ScatterND")) return Support::other_operator("not a scatter");
  if (!node.post_ops.empty()) return Support::no("it has post-ops");
  if (node.attributes.text("reduction", "none") != "none" && context.input(0).type.dtype == DType::kBool)
    return Support::no("it combines bools");
  return {};
}

std::string data_element(ElementCode& code, int /*output*/, const Index& at) { return code.input(0, at); }

/// Index that update AT writes.
Index target_of(ElementCode& code, const Index& at) {
  const NodeContext& context = code.context();
  const Shape& data = context.input(0).type.shape;
  const Shape& indices = context.input(1).type.shape;
  Index place;
  if (context.node.is("ScatterElements")) {
    const int axis = axis_of(context.node.attributes, data);
    place = at;
    place[static_cast<std::size_t>(axis)] = index_into(code, 1, at, data[axis]);
    return place;
  }
  const auto tuple_end = at.begin() + indices.rank() - 1;
  Index tuple(at.begin(), tuple_end);
  tuple.emplace_back();
  for (int i = 0; i < indices.back(); ++i) {
    tuple.back() = std::to_string(i);
    place.push_back(index_into(code, 1, tuple, data[i]));
  }
  place.insert(place.end(), tuple_end, at.end());
  return place;
}

/// Combines element X with update U.
std::string combination(const NodeContext& context) {
  const std::string reduction = context.node.attributes.text("reduction", "none");
  const bool whole = is_integer(context.input(0).type.dtype);
  if (reduction == "add") return whole ? "uint64(x) + uint64(u)" : "x + u";
  if (reduction == "mul") return whole ? "uint64(x) * uint64(u)" : "x * u";
  // Propagates NaN.
  return reduction == "max" ? "(x >= u || x != x ? x : u)" : "(x <= u || x != x ? x : u)";
}

KernelCall scatter_kernel(const NodeContext& context, NodeProgram& program) {
  const Value& updates = context.input(2);
  const Value& to = context.output();
  const std::int64_t elements = updates.type.shape.elements();
  ElementCode code(context);
  const Index at = declare_index(code, "at", updates.type.shape, updates.layout);
  const std::string place = code.let("int32", offset_of(target_of(code, at), to.type.shape, to.layout));
  const std::string stored(storage_name(to.type.dtype));
  const std::string update = code.let(compute_name(to.type.dtype), code.input_at_offset(2, "at"));
  if (context.node.attributes.text("reduction", "none") == "none")
    code.line(fmt::format("out[{}] = Narrow<{}>::from({});", place, stored, update));
  else
    code.line(fmt::format("change(out + {}, [u = {}](auto x) {{ return {}; }});", place, update, combination(context)));
  KernelCall call{.name = "scatter"};
  call.source = fmt::format(R"(#include "atomics.cuh"
extern "C" __global__ void __launch_bounds__({0}) scatter({1}, {2}* __restrict__ out) {{
  pdl_wait_and_trigger();
  const int32 at = blockIdx.x * {0} + threadIdx.x;
  if (at >= {3}) return;
{4}}}
)",
                            kUpdateThreads, code.parameters(), stored, elements, code.body());
  call.grid = {.blocks = {static_cast<unsigned>((elements + kUpdateThreads - 1) / kUpdateThreads), 1, 1},
               .threads = {kUpdateThreads, 1, 1}};
  code.bind_arguments(call, 0, program);
  return call;
}

NodeProgram scatter_program(const NodeContext& context) {
  NodeProgram program;
  program.calls.push_back(element_kernel(context, 0, data_element, program));
  if (context.input(2).type.shape.elements() > 0) program.calls.push_back(scatter_kernel(context, program));
  return program;
}

}  // namespace

std::unique_ptr<Tactic> scatters(Device& device) {
  return program_tactic(device, {"scatter", supports_scatter, scatter_program});
}

}  // namespace saccade::cuda
