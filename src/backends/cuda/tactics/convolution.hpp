#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "cuda/driver/kernel_launch.hpp"
#include "cuda/plans/convolution_plan.hpp"

namespace saccade::cuda {

/// Conv of one or two spatial dimensions, channels-last, with constant weights, as implicit GEMM
/// (kernels/convolution.cuh).
std::unique_ptr<Tactic> tiled_convolution(Device& device);
/// Depthwise Conv (kernels/depthwise.cuh).
std::unique_ptr<Tactic> depthwise_convolution(Device& device);

/// ConvTranspose of one group with constant weights (transposed_plan.hpp).
std::unique_ptr<Tactic> tiled_transposed_convolution(Device& device);
/// QLinearConv with constant quantisation parameters and an even number of channels.
std::unique_ptr<Tactic> tiled_quantized_convolution(Device& device);
/// MatMul and Gemm. A constant right operand is a 1x1 convolution's weights; two activations use kernels/gemm.cuh.
std::unique_ptr<Tactic> tiled_matmul(Device& device);

/// MatMul, Gemm and Conv of non-overlapping windows with constant weights, in half precision, on wgmma
/// (kernels/warpgroup_gemm.cuh), for GEMMs that are large enough.
std::unique_ptr<Tactic> warpgroup_gemm(Device& device);

/// Whether VALUE, of TYPE, is an image that these tactics can read and write.
Support supports_image(const Value& value, DType type);
/// Whether these tactics support the tensors, weights and post-ops of a Conv or ConvTranspose.
Support supports_sliding(const NodeContext& context);
/// Elements of input 2; empty if it is absent.
std::vector<float> bias_of(const NodeContext& context);
struct GemmShape;
/// Whether these tactics support a MatMul or Gemm: its tensors, factors, bias and post-ops.
Support supports_gemm(const NodeContext& context);
/// The GEMM of such a node. Batches that share their right operand are merged into rows.
GemmShape gemm_shape(const NodeContext& context);
/// A MatMul or Gemm with a constant right operand, as a 1x1 convolution.
struct ConstantGemm {
  ConvolutionShape shape;
  std::vector<float> weights;  ///< by filter and channel
  std::vector<float> bias;     ///< or nothing
};
Support supports_constant_gemm(const NodeContext& context);
ConvolutionShape constant_gemm_shape(const NodeContext& context);
ConstantGemm constant_gemm(const NodeContext& context);
/// The shape of a Conv with one or two spatial dimensions, whose weights are input WEIGHTS.
ConvolutionShape convolution_shape(const NodeContext& context, int weights = 1);
DeviceLimits limits_of(const Device& device);
/// The elements of a floating-point constant.
std::vector<float> floats_of(const Tensor& tensor);
/// Whether a tensor is stored channels-last.
bool is_channels_last(const Value& value);

/// Whether input 0 can be loaded in vectors of IN channels, and the output and the operands of post-ops accessed in
/// vectors of OUT, at the node's strides.
bool supports_pitches(const NodeContext& context, int in, int out);

/// Source of the node's post-ops as a struct PostOps; appends its arguments to ARGUMENTS.
PostOpsText post_ops_text(const NodeContext& context, std::vector<Argument>& arguments);

/// Kernel calls for one tile. WEIGHTS and BIAS are packed for it; OPERANDS are the arguments of POST_OPS.
NodeProgram convolution_program(const ConvolutionShape& shape, const ConvolutionTile& tile,
                                std::vector<std::byte> weights, std::vector<std::byte> bias,
                                const PostOpsText& post_ops, const std::vector<Argument>& operands);
/// The same for a node, from unpacked weights.
NodeProgram convolution_program(const NodeContext& context, const ConvolutionShape& shape, const ConvolutionTile& tile,
                                std::span<const float> weights, std::span<const float> bias);

}  // namespace saccade::cuda
