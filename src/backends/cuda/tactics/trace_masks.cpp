#include <fmt/format.h>

#include <algorithm>

#include "cuda/codegen/decoder_code.hpp"
#include "cuda/codegen/element_code.hpp"
#include "cuda/codegen/element_tactic.hpp"
#include "cuda/kernels/launch_sizes.hpp"
#include "cuda/tactics/tactics.hpp"
#include "ops/vision/pixels.hpp"

// saccade.TraceMasks, bit-identical to the reference (kernels/masks.cuh): one kernel counts runs, another writes them.
// Blocks of objects beyond the count exit at once.
namespace saccade::cuda {
namespace {

Support supports_masks(const NodeContext& context) {
  const Node& node = context.node;
  if (!node.is("TraceMasks", "saccade")) return Support::other_operator("not saccade.TraceMasks");
  if (!node.post_ops.empty()) return Support::no("it has post-ops");
  if (std::ranges::count(node.outputs, ValueId::kNone) > 0) return Support::no("an output is left out");
  if (context.input(0).type.shape.elements() == 0) return Support::no("its grids are empty");
  return {};
}

std::string spec_of(const NodeContext& context) {
  const Attributes& attributes = context.node.attributes;
  const Value& grids = context.input(0);
  const Shape& shape = grids.type.shape;
  const Shape strides = dense_strides(shape, grids.layout);
  const PreprocessSpec spec = preprocess_spec(attributes);
  const Region region = spec.roi.value_or(Region{});
  const std::string& within = *attributes.find<std::string>("within");
  const int resize_to = spec.resize_to > 0 ? spec.resize_to : std::max(spec.width, spec.height);
  std::string text = "struct Spec {\n";
  for (const auto& [name, value] :
       std::initializer_list<std::pair<const char*, std::int64_t>>{{"kObjects", shape[0]},
                                                                   {"kRows", shape[1]},
                                                                   {"kColumns", shape[2]},
                                                                   {"kObjectStride", strides[0]},
                                                                   {"kRowStride", strides[1]},
                                                                   {"kColumnStride", strides[2]},
                                                                   {"kCapacity", context.output().type.shape[0]},
                                                                   {"kWidth", spec.width},
                                                                   {"kHeight", spec.height},
                                                                   {"kResize", static_cast<int>(spec.resize)},
                                                                   {"kResizeTo", resize_to},
                                                                   {"kHasRegion", spec.roi ? 1 : 0},
                                                                   {"kRegionX", region.x},
                                                                   {"kRegionY", region.y},
                                                                   {"kRegionWidth", region.width},
                                                                   {"kRegionHeight", region.height},
                                                                   {"kInBox", within == "boxes" ? 1 : 0},
                                                                   {"kOnBox", within == "regions" ? 1 : 0}})
    text += fmt::format("  static constexpr int32 {} = {};\n", name, value);
  return text + "};\n";
}

KernelCall mask_kernel(const NodeContext& context, std::string_view name, const std::string& parameters,
                       const std::string& arguments) {
  KernelCall call{.name = fmt::format("{}_masks", name)};
  call.source = fmt::format(
      "#include \"masks.cuh\"\n{0}extern \"C\" __global__ void __launch_bounds__({1}) {2}_masks(const {3}* "
      "__restrict__ "
      "grids, const int32* __restrict__ count, const float* __restrict__ rows, const float* __restrict__ geometry, "
      "{4}) {{\n  pdl_wait_and_trigger();\n  {2}_runs<Spec>(grids, count, rows, geometry, {5});\n}}\n",
      spec_of(context), kMaskThreads, name, storage_name(context.input(0).type.dtype), parameters, arguments);
  call.grid = {.blocks = {static_cast<unsigned>(kMaskBlocks * context.input(0).type.shape[0]), 1, 1},
               .threads = {kMaskThreads, 1, 1}};
  // Any pointer if boxes are not read.
  const std::size_t rows = context.has(2) ? 2 : 3;
  for (std::size_t i : {std::size_t{0}, std::size_t{1}, rows, std::size_t{3}})
    call.arguments.push_back({Argument::Kind::kInput, i});
  return call;
}

NodeProgram mask_program(const NodeContext& context) {
  NodeProgram program;
  const Argument numbers = add_scratch(program, 4 * kMaskNumbers * kMaskBlocks * context.input(0).type.shape[0]);
  program.calls.push_back(mask_kernel(context, "count", "int32* __restrict__ numbers", "numbers"));
  program.calls.back().arguments.push_back(numbers);
  program.calls.push_back(mask_kernel(context, "write",
                                      "const int32* __restrict__ numbers, int32* __restrict__ runs, int32* "
                                      "__restrict__ objects, int32* __restrict__ used, int32* __restrict__ untraced, "
                                      "int32* __restrict__ fault_bits",
                                      "numbers, runs, objects, used, untraced, fault_bits"));
  program.calls.back().arguments.push_back(numbers);
  for (std::size_t i = 0; i < 5; ++i) program.calls.back().arguments.push_back({Argument::Kind::kOutput, i});
  return program;
}

}  // namespace

std::unique_ptr<Tactic> trace_masks(Device& device) {
  return program_tactic(device, {"masks", supports_masks, mask_program});
}

}  // namespace saccade::cuda
