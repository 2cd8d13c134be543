#pragma once

#include "cuda/plans/convolution_plan.hpp"

// Tiling and source of the GEMM of two activations (kernels/gemm.cuh) and of depthwise convolution
// (kernels/depthwise.cuh), independent of graphs and devices.
namespace saccade::cuda {

/// Batched GEMM: [m, k] x [k, n], or [n, k] if transposed. Strides are in elements. Batch B is at (B / inner_batches)
/// times the outer stride plus (B % inner_batches) times the inner stride.
struct GemmShape {
  DType dtype = DType::kFloat16;  ///< of operands and output: float32, float16 or bfloat16
  int batches = 1;
  int inner_batches = 1;
  int m = 1;
  int n = 1;
  int k = 1;
  int lda = 1;
  int a_outer_stride = 0;
  int a_inner_stride = 0;
  int ldb = 1;
  int b_outer_stride = 0;
  int b_inner_stride = 0;
  bool transposed = false;
  bool bias = false;  ///< one element per column

  int element_bytes() const { return dtype == DType::kFloat32 ? 4 : 2; }
};

struct GemmTile {
  int m = 64;
  int n = 64;
  int step = 32;
  int warps_m = 2;
  int warps_n = 2;
  int stages = 3;

  int threads() const { return 32 * warps_m * warps_n; }
  std::string to_string() const;
};

int gemm_shared_bytes(const GemmShape& shape, const GemmTile& tile);
/// All tiles that fit, ordered by gemm_time() in microseconds.
std::vector<GemmTile> gemm_tiles(const GemmShape& shape, const DeviceLimits& limits);
/// The tile described by TEXT, as to_string() writes it, if it is one of these; else the first.
GemmTile configured_gemm_tile(const GemmShape& shape, const DeviceLimits& limits, std::string_view text);
/// The first COUNT that differ in more than stages and warp arrangement, as text.
std::vector<std::string> gemm_configurations(const GemmShape& shape, const DeviceLimits& limits, std::size_t count);
double gemm_time(const GemmShape& shape, const GemmTile& tile, const DeviceLimits& limits);
/// Source of the kernel "gemm". Parameters: a, b, bias (any pointer if there is none), those of POST_OPS, output. Grid:
/// row tiles, column tiles, batches.
std::string gemm_source(const GemmShape& shape, const GemmTile& tile, const PostOpsText& post_ops);

/// Tiling of a depthwise convolution: a thread computes VECTOR channels of PIXELS adjacent outputs.
struct DepthwiseTile {
  int vector = 8;
  int pixels = 4;
  int threads = 128;

  std::string to_string() const;
};
bool is_depthwise(const ConvolutionShape& shape);
/// All tiles for SHAPE, ordered by expected speed.
std::vector<DepthwiseTile> depthwise_tiles(const ConvolutionShape& shape, const DeviceLimits& limits);
/// The tile described by TEXT, as to_string() writes it, if it is one of these; else the first.
DepthwiseTile configured_depthwise_tile(const ConvolutionShape& shape, const DeviceLimits& limits,
                                        std::string_view text);
int depthwise_blocks(const ConvolutionShape& shape, const DepthwiseTile& tile);
/// Packs WEIGHTS from ONNX order to tap-major, channel-minor, in the input's type.
std::vector<std::byte> pack_depthwise_weights(const ConvolutionShape& shape, std::span<const float> weights);
/// Source of the kernel "depthwise". Parameters as for convolution_source().
std::string depthwise_source(const ConvolutionShape& shape, const DepthwiseTile& tile, const PostOpsText& post_ops);

}  // namespace saccade::cuda
