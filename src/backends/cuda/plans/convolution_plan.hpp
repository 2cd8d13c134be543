#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "saccade/tensor.hpp"

// What a convolution by kernels/convolution.cuh is made of, apart from graphs and devices: lengths, tiles, a model of
// their time, packed weights, the constants as text.
namespace saccade::cuda {

/// A two-dimensional convolution of NHWC tensors. Channels and filters are a group's; pitches are from pixel to pixel.
struct ConvolutionShape {
  DType dtype = DType::kFloat16;  ///< of the input: float32, float16, bfloat16, or bytes (int8, uint8)
  bool tf32 = false;              ///< float32 may be rounded to tf32, and is multiplied by tensor cores
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
  // Of a transposed convolution (transposed_plan.hpp): the filters are those of scale_y * scale_x phases, each of which
  // lands on every so-many-th line and column of the scaled output.
  int scale_y = 1;
  int scale_x = 1;
  int scaled_height = 1;
  int scaled_width = 1;

  // Of bytes: channels and in_pitch count pairs of them.
  std::optional<DType> out_dtype;  ///< of the output, where it is not the input's
  int padding = 0;                 ///< what lies around the images: the input's zero point

  int taps() const { return kernel_height * kernel_width; }
  double operations() const;
};

/// How inputs get into shared memory; kernels/convolution.cuh says what each is for.
enum class ConvolutionWindow { kGather, kPatch, kFewChannels };

/// How the work is cut up.
struct ConvolutionTile {
  ConvolutionWindow window = ConvolutionWindow::kGather;
  int height = 1;  ///< pixels of the output
  int width = 32;
  int filters = 32;
  int step = 32;  ///< channels of one step of the sum
  int warps_m = 1;
  int warps_n = 1;
  int warps_k = 1;
  int split = 1;   ///< blocks of a cluster that share a sum
  int stages = 4;  ///< steps whose data are under way

  int threads() const { return 32 * warps_m * warps_n * warps_k; }
  std::string to_string() const;
};

/// What of a device a tile depends on.
struct DeviceLimits {
  int multiprocessors = 132;
  int shared_bytes = 232448;  ///< that a block may have
  bool clusters = true;       ///< Hopper on: sums may be split over blocks
};

/// Blocks of a launch: tiles of pixels, tiles of filters, parts of the sum.
struct ConvolutionGrid {
  int pixels = 1;
  int filters = 1;
  int split = 1;
  int blocks() const { return pixels * filters * split; }
};
ConvolutionGrid convolution_grid(const ConvolutionShape& shape, const ConvolutionTile& tile);
/// Dynamic shared memory of a block.
int convolution_shared_bytes(const ConvolutionShape& shape, const ConvolutionTile& tile);

/// The tiles that fit SHAPE and the device, the most promising first by convolution_time().
std::vector<ConvolutionTile> convolution_tiles(const ConvolutionShape& shape, const DeviceLimits& limits);
/// The first COUNT of TILES that differ in more than the ring and the arrangement of warps: what a search tries. Eight
/// hold one within 2 % of the best of forty, over the layers of ResNet-50 and YOLOv8n.
std::vector<ConvolutionTile> distinct_tiles(const std::vector<ConvolutionTile>& tiles, std::size_t count);
/// The tile that to_string() wrote TEXT of, where it is one of convolution_tiles(); else the first of these.
ConvolutionTile configured_tile(const ConvolutionShape& shape, const DeviceLimits& limits, std::string_view text);
/// distinct_tiles() as texts, or those near the one of this text (near_tiles.hpp).
std::vector<std::string> tile_configurations(const ConvolutionShape& shape, const DeviceLimits& limits,
                                             std::size_t count, std::string_view near = {});
/// What a launch is expected to take behind another one, in microseconds; good for comparing tiles.
double convolution_time(const ConvolutionShape& shape, const ConvolutionTile& tile, const DeviceLimits& limits);

/// WEIGHTS, one float each in ONNX's order (filter of all groups, channel, y, x), in the order in which blocks read
/// them. Of bytes a float holds a pair's bits as a number: 0 to 65535.
std::vector<std::byte> pack_convolution_weights(const ConvolutionShape& shape, const ConvolutionTile& tile,
                                                std::span<const float> weights);
/// BIAS (or nothing), padded to whole tiles.
std::vector<std::byte> pack_convolution_bias(const ConvolutionShape& shape, const ConvolutionTile& tile,
                                             std::span<const float> bias);

/// What a kernel does to its sums before it stores them, as text: a struct PostOps (kernels/tile.cuh), the kernel's
/// parameters for it, and an expression that makes one of them.
struct PostOpsText {
  std::string definition = "using PostOps = NoPostOps;\n";
  std::string parameters;  ///< ", const float16* __restrict__ in3"
  std::string value = "PostOps{}";
};

/// The struct NAME of constants that convolve<NAME>() takes.
std::string convolution_constants(const std::string& name, const ConvolutionShape& shape, const ConvolutionTile& tile);
/// The kernel "convolution": its parameters are input, packed weights, packed bias, those of POST_OPS, output.
std::string convolution_source(const ConvolutionShape& shape, const ConvolutionTile& tile, const PostOpsText& post_ops);

}  // namespace saccade::cuda
