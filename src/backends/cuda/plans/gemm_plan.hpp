#pragma once

#include "cuda/plans/convolution_plan.hpp"

// Products of activations (kernels/gemm.cuh) and depthwise convolutions (kernels/depthwise.cuh), apart from graphs and
// devices.
namespace saccade::cuda {

/// Batches of [m, k] x [k, n], or [n, k] where the right operand is transposed. Strides are in elements; batch number
/// B has the operands B / inner_batches times the outer and B % inner_batches times the inner stride along.
struct ProductShape {
  DType dtype = DType::kFloat16;  ///< of operands and output: float32, float16 or bfloat16
  int batches = 1;
  int inner_batches = 1;
  int m = 1;
  int n = 1;
  int k = 1;
  int left_row = 1;
  int left_outer = 0;
  int left_inner = 0;
  int right_row = 1;
  int right_outer = 0;
  int right_inner = 0;
  bool transposed = false;
  bool bias = false;  ///< one element a column
};

struct ProductTile {
  int m = 64;
  int n = 64;
  int step = 32;
  int warps_m = 2;
  int warps_n = 2;
  int stages = 3;

  int threads() const { return 32 * warps_m * warps_n; }
  std::string to_string() const;
};

int product_shared_bytes(const ProductShape& shape, const ProductTile& tile);
/// The tiles that fit, the most promising first by product_time(), in microseconds.
std::vector<ProductTile> product_tiles(const ProductShape& shape, const DeviceLimits& limits);
/// The tile that to_string() wrote TEXT of, where it is one of these; else the first of them.
ProductTile configured_product_tile(const ProductShape& shape, const DeviceLimits& limits, std::string_view text);
/// The first COUNT that differ in more than the ring and the arrangement of warps, as texts.
std::vector<std::string> product_configurations(const ProductShape& shape, const DeviceLimits& limits,
                                                std::size_t count);
double product_time(const ProductShape& shape, const ProductTile& tile, const DeviceLimits& limits);
/// The kernel "product": its parameters are left, right, bias (or anything), those of POST_OPS, output. Its grid is
/// tiles of rows, tiles of columns, batches.
std::string product_source(const ProductShape& shape, const ProductTile& tile, const PostOpsText& post_ops);

/// How a depthwise convolution is cut up: a thread has VECTOR channels of PIXELS neighbouring outputs.
struct DepthwiseTile {
  int vector = 8;
  int pixels = 4;
  int threads = 128;

  std::string to_string() const;
};
bool is_depthwise(const ConvolutionShape& shape);
/// The tiles for SHAPE, the most promising first.
std::vector<DepthwiseTile> depthwise_tiles(const ConvolutionShape& shape, const DeviceLimits& limits);
/// The tile that to_string() wrote TEXT of, where it is one of these; else the first of them.
DepthwiseTile configured_depthwise_tile(const ConvolutionShape& shape, const DeviceLimits& limits,
                                        std::string_view text);
int depthwise_blocks(const ConvolutionShape& shape, const DepthwiseTile& tile);
/// WEIGHTS in ONNX's order, by tap, then channel, in the input's type.
std::vector<std::byte> pack_depthwise_weights(const ConvolutionShape& shape, std::span<const float> weights);
/// The kernel "depthwise": its parameters are those of convolution_source().
std::string depthwise_source(const ConvolutionShape& shape, const DepthwiseTile& tile, const PostOpsText& post_ops);

}  // namespace saccade::cuda
