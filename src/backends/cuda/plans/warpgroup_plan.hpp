#pragma once

#include <optional>

#include "cuda/plans/convolution_plan.hpp"
#include "cuda/plans/normalized_weights.hpp"

// Tiling, cost model, weight packing and source of kernels/warpgroup_gemm.cuh, independent of graphs and devices.
namespace saccade::cuda {

/// GEMM with constant weights: OUTPUT [rows][filters] = INPUT [rows][channels] x weights. Pitches are element strides
/// between rows.
struct WarpgroupShape {
  DType dtype = DType::kFloat16;  ///< of input and output: float16 or bfloat16
  int rows = 1;
  int channels = 8;
  int in_pitch = 8;
  int filters = 1;
  int out_pitch = 1;
  // Patches of a convolution: a row is a window, made of runs at this pitch; 0 for plain rows.
  int runs = 1;
  int run_pitch = 0;
  int window_pitch = 0;  ///< between vertically adjacent windows; in_pitch is between horizontally adjacent ones
  int image_pitch = 0;
  int out_height = 1;
  int out_width = 1;
  /// Epsilon of the variance, if rows are normalised first.
  std::optional<float> epsilon = std::nullopt;

  bool normalizes() const { return epsilon.has_value(); }
  double operations() const { return 2.0 * rows * channels * filters; }
};
/// Whether SHAPE is such a GEMM: half precision, one group, 1x1 windows over all pixels or non-overlapping windows,
/// with 16-byte aligned runs.
bool is_warpgroup_gemm(const ConvolutionShape& shape);
WarpgroupShape warpgroup_shape(const ConvolutionShape& shape);
/// Reorders WEIGHTS from ONNX order (filter, channel, y, x) to filter, y, x, channel.
std::vector<float> warpgroup_weights(const ConvolutionShape& shape, std::span<const float> weights);

/// Tiling of the GEMM.
struct WarpgroupTile {
  int rows = 64;       ///< a multiple of 8; of 32 beyond 128
  int tiles = 1;       ///< M tiles of 64 filters per warpgroup
  int warpgroups = 1;  ///< consumer warpgroups, along the filters
  int depth = 1;       ///< blocks of 64 channels per k-step
  int split = 1;       ///< split-K: blocks of a cluster
  int stages = 4;      ///< pipeline stages

  int filters() const { return 64 * tiles * warpgroups; }
  int threads() const { return 128 * (warpgroups + 1); }
  std::string to_string() const;
};

/// Launch grid: row tiles, filter tiles, split-K.
ConvolutionGrid warpgroup_grid(const WarpgroupShape& shape, const WarpgroupTile& tile);
/// Dynamic shared memory per block.
int warpgroup_shared_bytes(const WarpgroupShape& shape, const WarpgroupTile& tile);

/// All tiles that fit SHAPE and the device, ordered by warpgroup_time().
std::vector<WarpgroupTile> warpgroup_tiles(const WarpgroupShape& shape, const DeviceLimits& limits);
/// The first COUNT of TILES that differ in more than the number of stages: the candidates of a search.
std::vector<WarpgroupTile> distinct_tiles(const std::vector<WarpgroupTile>& tiles, std::size_t count);
/// Estimated time of a launch behind another one, in microseconds; accurate enough to rank tiles.
double warpgroup_time(const WarpgroupShape& shape, const WarpgroupTile& tile, const DeviceLimits& limits);

/// Packs WEIGHTS, floats by filter and channel, in the order in which blocks load them.
std::vector<std::byte> pack_warpgroup_weights(const WarpgroupShape& shape, const WarpgroupTile& tile,
                                              std::span<const float> weights);
/// BIAS (or nothing), padded to whole tiles.
std::vector<std::byte> pack_warpgroup_bias(const WarpgroupShape& shape, const WarpgroupTile& tile,
                                           std::span<const float> bias);
/// For normalised rows: the bias and the sums of weights, each padded to whole tiles, then the factor.
std::vector<std::byte> pack_warpgroup_bias(const WarpgroupShape& shape, const WarpgroupTile& tile,
                                           const NormalizedWeights& weights);

/// Source of the kernel "warpgroup_gemm". Parameters: input, packed weights, packed bias, those of POST_OPS, output.
std::string warpgroup_source(const WarpgroupShape& shape, const WarpgroupTile& tile, const PostOpsText& post_ops);

}  // namespace saccade::cuda
