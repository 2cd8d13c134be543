#include <fmt/format.h>

#include "cuda/plans/convolution_tiling.hpp"

namespace saccade::cuda {
namespace {

/// Element type of kernels.
std::string_view element_name(DType type) {
  switch (type) {
    case DType::kFloat32: return "float";
    case DType::kFloat16: return "float16";
    case DType::kBFloat16: return "bfloat16";
    case DType::kInt8: return "int8";
    default: return "uint8";
  }
}

}  // namespace

std::string convolution_constants(const std::string& name, const ConvolutionShape& shape, const ConvolutionTile& tile) {
  constexpr const char* kStagings[] = {"kTapGather", "kHaloTile", "kFewChannels"};
  const std::string_view held = element_name(shape.dtype);
  const std::string element = is_bytes(shape) ? fmt::format("BytePair<{}>", held) : std::string(held);
  std::string text =
      fmt::format("// {} bytes of dynamic shared memory\nstruct {} {{\n", convolution_shared_bytes(shape, tile), name);
  text += fmt::format("  using Element = {};\n  using Output = {};\n", element,
                      element_name(shape.out_dtype.value_or(shape.dtype)));
  text += fmt::format("  static constexpr InputStaging kStaging = InputStaging::{};\n",
                      kStagings[static_cast<int>(tile.staging)]);
  const std::pair<const char*, int> constants[] = {
      {"Tf32", shape.tf32 ? 1 : 0},
      {"Padding", shape.padding},
      {"Images", shape.images},
      {"Height", shape.height},
      {"Width", shape.width},
      {"InPitch", shape.in_pitch},
      {"Groups", shape.groups},
      {"Channels", shape.channels},
      {"OutHeight", shape.out_height},
      {"OutWidth", shape.out_width},
      {"OutPitch", shape.out_pitch},
      {"Filters", shape.filters},
      {"KernelHeight", shape.kernel_height},
      {"KernelWidth", shape.kernel_width},
      {"StrideY", shape.stride_y},
      {"StrideX", shape.stride_x},
      {"PadY", shape.pad_y},
      {"PadX", shape.pad_x},
      {"ScaleY", shape.scale_y},
      {"ScaleX", shape.scale_x},
      {"ScaledHeight", shape.scaled_height},
      {"ScaledWidth", shape.scaled_width},
      {"DilationY", shape.dilation_y},
      {"DilationX", shape.dilation_x},
      {"TileHeight", tile.height},
      {"TileWidth", tile.width},
      {"TileFilters", tile.filters},
      {"Step", tile.step},
      {"WarpsM", tile.warps_m},
      {"WarpsN", tile.warps_n},
      {"WarpsK", tile.warps_k},
      {"Split", tile.split},
      {"Stages", tile.stages},
  };
  for (const auto& [constant, value] : constants)
    text += fmt::format("  static constexpr int k{} = {};\n", constant, value);
  return text + "};\n";
}

std::string convolution_source(const ConvolutionShape& shape, const ConvolutionTile& tile,
                               const PostOpsText& post_ops) {
  const std::string cluster = tile.split > 1 ? fmt::format("__cluster_dims__(1, 1, {}) ", tile.split) : "";
  return fmt::format(R"(#include "convolution.cuh"
{}{}// about {} registers
extern "C" __global__ void {}__launch_bounds__({}, 2)
    convolution(const Layer::Element* __restrict__ input, const unsigned char* __restrict__ weights,
                const ConvolutionTraits<Layer>::Bias* __restrict__ biases{}, Layer::Output* __restrict__ output) {{
  convolve<Layer>(input, weights, biases, output, {});
}}
)",
                     convolution_constants("Layer", shape, tile), post_ops.definition,
                     registers_of(shape, ConvolutionTiling(shape, tile)), cluster, tile.threads(), post_ops.parameters,
                     post_ops.value);
}

}  // namespace saccade::cuda
