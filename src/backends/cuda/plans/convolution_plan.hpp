#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/kernels/convolution_tiling.hpp"
#include "saccade/tensor.hpp"

// Tiling, cost model, weight packing and source of kernels/convolution.cuh, independent of graphs and devices.
namespace saccade::cuda {

/// A 2D convolution of NHWC tensors. Channels and filters are per group; pitches are element strides between pixels.
struct ConvolutionShape {
  DType dtype = DType::kFloat16;  ///< of the input: float32, float16, bfloat16, int8 or uint8
  bool tf32 = false;              ///< float32 may be rounded to tf32 for tensor cores
  int images = 1;
  int height = 1;
  int width = 1;
  int in_pitch = 1;
  int groups = 1;
  int channels = 1;
  int out_height = 1;
  int out_width = 1;
  int out_pitch = 1;
  int filters = 1;
  int kernel_height = 1;
  int kernel_width = 1;
  int stride_y = 1;
  int stride_x = 1;
  int pad_y = 0;
  int pad_x = 0;
  int dilation_y = 1;
  int dilation_x = 1;
  // Transposed convolution (transposed_plan.hpp): filters of scale_y * scale_x phases, each stored at every scale_y-th
  // row and scale_x-th column of the scaled output.
  int scale_y = 1;
  int scale_x = 1;
  int scaled_height = 1;
  int scaled_width = 1;

  // 8-bit integers: channels and in_pitch count pairs.
  std::optional<DType> out_dtype;  ///< of the output, if it differs from the input's
  int padding = 0;                 ///< padding value: the input's zero point

  int taps() const { return kernel_height * kernel_width; }
  /// Of the input; a pair counts as one element.
  int element_bytes() const { return dtype == DType::kFloat32 ? 4 : 2; }
  double operations() const;
};

/// Tiling of a convolution.
struct ConvolutionTile {
  InputStaging staging = InputStaging::kTapGather;
  int height = 1;  ///< output pixels
  int width = 32;
  int filters = 32;
  int step = 32;  ///< channels per k-step
  int warps_m = 1;
  int warps_n = 1;
  int warps_k = 1;
  int split = 1;   ///< split-K: blocks of a cluster
  int stages = 4;  ///< pipeline stages

  int threads() const { return 32 * warps_m * warps_n * warps_k; }
  std::string to_string() const;
};

/// Device properties that tiles depend on.
struct DeviceLimits {
  int multiprocessors = 132;
  int shared_bytes = 232448;  ///< maximum per block
  bool clusters = true;       ///< thread-block clusters (Hopper on), for split-K
};

/// Launch grid: pixel tiles, filter tiles, split-K.
struct ConvolutionGrid {
  int pixels = 1;
  int filters = 1;
  int split = 1;
  int blocks() const { return pixels * filters * split; }
};
ConvolutionGrid convolution_grid(const ConvolutionShape& shape, const ConvolutionTile& tile);
/// Dynamic shared memory per block.
int convolution_shared_bytes(const ConvolutionShape& shape, const ConvolutionTile& tile);

/// All tiles that fit SHAPE and the device, ordered by convolution_time().
std::vector<ConvolutionTile> convolution_tiles(const ConvolutionShape& shape, const DeviceLimits& limits);
/// The first COUNT of TILES that differ in more than stages and warp arrangement: the candidates of a search. Over the
/// layers of ResNet-50 and YOLOv8n, eight contain one within 2 % of the best of forty.
std::vector<ConvolutionTile> distinct_tiles(const std::vector<ConvolutionTile>& tiles, std::size_t count);
/// The tile described by TEXT, as to_string() writes it, if convolution_tiles() offers it; else the first.
ConvolutionTile configured_tile(const ConvolutionShape& shape, const DeviceLimits& limits, std::string_view text);
/// distinct_tiles() as text, or the neighbours of the tile NEAR (neighbor_tiles.hpp).
std::vector<std::string> tile_configurations(const ConvolutionShape& shape, const DeviceLimits& limits,
                                             std::size_t count, std::string_view near = {});
/// Estimated time of a launch behind another one, in microseconds; accurate enough to rank tiles.
double convolution_time(const ConvolutionShape& shape, const ConvolutionTile& tile, const DeviceLimits& limits);

/// Packs WEIGHTS, floats in ONNX order (filter of all groups, channel, y, x), in the order in which blocks load them.
/// For 8-bit integers a float holds the bits of a pair: 0 to 65535.
std::vector<std::byte> pack_convolution_weights(const ConvolutionShape& shape, const ConvolutionTile& tile,
                                                std::span<const float> weights);
/// BIAS (or nothing), padded to whole tiles.
std::vector<std::byte> pack_convolution_bias(const ConvolutionShape& shape, const ConvolutionTile& tile,
                                             std::span<const float> bias);

/// Source of a kernel's epilogue: a struct PostOps (kernels/tile.cuh), the kernel parameters for it, and an expression
/// that constructs it.
struct PostOpsText {
  std::string definition = "using PostOps = NoPostOps;\n";
  std::string parameters;  ///< ", const float16* __restrict__ in3"
  std::string value = "PostOps{}";
};

/// The struct NAME of constants that convolve<NAME>() takes.
std::string convolution_constants(const std::string& name, const ConvolutionShape& shape, const ConvolutionTile& tile);
/// Source of the kernel "convolution". Parameters: input, packed weights, packed bias, those of POST_OPS, output.
std::string convolution_source(const ConvolutionShape& shape, const ConvolutionTile& tile, const PostOpsText& post_ops);

}  // namespace saccade::cuda
