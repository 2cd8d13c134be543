#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cpu/loops/row_operations.hpp"
#include "cpu/tactics/weights.hpp"
#include "ops/layers/matmul_shape.hpp"
#include "ops/layers/window.hpp"
#include "runtime/tactic.hpp"

// Convolutions and GEMMs as the products of our own kernels, whatever their type: pixels or rows times packed weights.
namespace saccade::cpu {

/// Whether each pixel is read once, by one window: a 1x1 convolution with a stride of 1.
bool is_pointwise(const Window& window);

/// BIAS (float32 or bfloat16; null: zeros) times FACTOR, in float32: of each of GROUPS its OUT_CHANNELS elements,
/// padded with zeros to PADDED.
Tensor padded_bias(std::int64_t groups, std::int64_t out_channels, std::int64_t padded, const Tensor* bias,
                   float factor = 1);

/// A channels-last Conv with constant weights.
struct ConvolutionOperands {
  explicit ConvolutionOperands(const NodeContext& context);

  Window window;  ///< of a pointwise convolution: one line of pixels
  std::int64_t images;
  std::int64_t groups;
  std::int64_t in_channels;   ///< of a group
  std::int64_t out_channels;  ///< of a group

  WeightStrides strides() const { return {.out_channel = in_channels * taps(), .in_channel = taps(), .tap = 1}; }
  std::int64_t taps() const { return window.taps(); }
};
/// Whether CONTEXT is a convolution of tensors of DTYPE in this form, with post-ops that have kernels.
Support supports_convolution(const NodeContext& context, DType dtype);
/// Of the channels of a supported convolution.
RowOperations convolution_operations(const NodeContext& context);

/// A MatMul or Gemm of row-major matrices in the form of MatMul.
struct GemmOperands {
  explicit GemmOperands(const NodeContext& context);

  /// A line of the left operand's rows.
  Window window() const;
  WeightStrides right_strides() const;
  std::int64_t right_elements() const { return shape.k * shape.n; }  ///< of a matrix
  /// By image, the right operand that it is multiplied with; empty: there is one.
  std::vector<std::int64_t> matrix_of_image() const;
  /// By image, the left operand's rows before its first; empty if there is one right operand.
  std::vector<std::int64_t> first_rows() const;

  MatMulShape shape;
  bool transposes_right;
  float alpha;
  float beta;
  std::int64_t matrices;  ///< right operands
};
/// Whether CONTEXT is a GEMM of tensors of DTYPE in this form, with post-ops that have kernels.
Support supports_gemm(const NodeContext& context, DType dtype);
/// Of the columns of a supported GEMM.
RowOperations gemm_operations(const NodeContext& context);

}  // namespace saccade::cpu
