#pragma once

#include <optional>

#include "cuda/plans/convolution_plan.hpp"
#include "cuda/plans/normalized_weights.hpp"

// What a product by kernels/warpgroup_product.cuh is made of, apart from graphs and devices: lengths, tiles, a model of
// their time, packed weights, the source.
namespace saccade::cuda {

/// OUTPUT [rows][filters] = INPUT [rows][channels] times constant weights; pitches are from row to row, in elements.
struct WarpgroupShape {
  DType dtype = DType::kFloat16;  ///< of input and output: float16 or bfloat16
  int rows = 1;
  int channels = 8;
  int in_pitch = 8;
  int filters = 1;
  int out_pitch = 1;
  // Of a convolution's windows: a row is one, of lines so far apart; 0 where rows are just rows.
  int lines = 1;
  int line_pitch = 0;
  int window_pitch = 0;  ///< from a window to the one below; in_pitch is to the next one
  int image_pitch = 0;
  int out_height = 1;
  int out_width = 1;
  /// Where rows are brought to a mean of 0 and a deviation of 1 before: what is added to their variance.
  std::optional<float> epsilon = std::nullopt;

  double operations() const { return 2.0 * rows * channels * filters; }
};
/// Whether SHAPE is such a product: in halves, of one group, of windows of one tap over all pixels or ones that touch
/// and don't overlap, whose lines begin at multiples of 16 bytes.
bool is_warpgroup_product(const ConvolutionShape& shape);
WarpgroupShape warpgroup_shape(const ConvolutionShape& shape);
/// WEIGHTS in ONNX's order (filter, channel, y, x) as such a product has them: by filter, y, x, channel.
std::vector<float> warpgroup_weights(const ConvolutionShape& shape, std::span<const float> weights);

/// How the work is cut up.
struct WarpgroupTile {
  int rows = 64;       ///< a multiple of 8, beyond 128 of 32
  int tiles = 1;       ///< of 64 filters, that a warpgroup has
  int warpgroups = 1;  ///< that multiply, side by side along the filters
  int depth = 1;       ///< 64 channels of a step
  int split = 1;       ///< blocks of a cluster that share a sum
  int stages = 4;      ///< steps whose data are under way

  int filters() const { return 64 * tiles * warpgroups; }
  int threads() const { return 128 * (warpgroups + 1); }
  std::string to_string() const;
};

/// Blocks along rows, filters and the sum.
ConvolutionGrid warpgroup_grid(const WarpgroupShape& shape, const WarpgroupTile& tile);
/// Dynamic shared memory of a block.
int warpgroup_shared_bytes(const WarpgroupShape& shape, const WarpgroupTile& tile);

/// The tiles that fit SHAPE and the device, the most promising first by warpgroup_time().
std::vector<WarpgroupTile> warpgroup_tiles(const WarpgroupShape& shape, const DeviceLimits& limits);
/// The first COUNT of TILES that differ in more than the ring: what a search tries.
std::vector<WarpgroupTile> distinct_tiles(const std::vector<WarpgroupTile>& tiles, std::size_t count);
/// What a launch is expected to take behind another one, in microseconds; good for comparing tiles.
double warpgroup_time(const WarpgroupShape& shape, const WarpgroupTile& tile, const DeviceLimits& limits);

/// WEIGHTS, one float each by filter and channel, in the order in which blocks read them.
std::vector<std::byte> pack_warpgroup_weights(const WarpgroupShape& shape, const WarpgroupTile& tile,
                                              std::span<const float> weights);
/// BIAS (or nothing), padded to whole tiles.
std::vector<std::byte> pack_warpgroup_bias(const WarpgroupShape& shape, const WarpgroupTile& tile,
                                           std::span<const float> bias);
/// Where rows are normalised: the bias, the sums of weights, both padded so, and the factor.
std::vector<std::byte> pack_warpgroup_bias(const WarpgroupShape& shape, const WarpgroupTile& tile,
                                           const NormalizedWeights& weights);

/// The kernel "warpgroup_product": its parameters are input, packed weights, packed bias, those of POST_OPS, output.
std::string warpgroup_source(const WarpgroupShape& shape, const WarpgroupTile& tile, const PostOpsText& post_ops);

}  // namespace saccade::cuda
