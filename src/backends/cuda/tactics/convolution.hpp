#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "cuda/plans/convolution_plan.hpp"
#include "cuda/driver/kernel_launch.hpp"

namespace saccade::cuda {

/// Conv of one or two spatial dimensions, channels-last, with constant weights, as an implicit matrix product
/// (kernels/convolution.cuh).
std::unique_ptr<Tactic> tiled_convolution(Device& device);
/// The same where every channel has filters of its own (kernels/depthwise.cuh).
std::unique_ptr<Tactic> depthwise_convolution(Device& device);

/// ConvTranspose of one group with constant weights, likewise (transposed_plan.hpp).
std::unique_ptr<Tactic> tiled_transposed_convolution(Device& device);
/// QLinearConv likewise, where its quantisation is constant and channels come in pairs.
std::unique_ptr<Tactic> tiled_quantized_convolution(Device& device);
/// MatMul and Gemm; a constant right operand is a convolution's weights, two activations go through kernels/gemm.cuh.
std::unique_ptr<Tactic> tiled_matmul(Device& device);

/// MatMul, Gemm and Conv of windows that don't overlap, with constant weights, in halves, where the device has Hopper's
/// warpgroup instructions and the product is large enough for them (kernels/warpgroup_product.cuh).
std::unique_ptr<Tactic> warpgroup_product(Device& device);

/// Whether VALUE, of TYPE, lies as the tactics here read and write images.
Support supports_image(const Value& value, DType type);
/// Whether a Conv's or ConvTranspose's tensors, weights and post-ops are such as the tactics here take.
Support supports_sliding(const NodeContext& context);
/// Input 2's elements; none where it is left out.
std::vector<float> bias_of(const NodeContext& context);
struct ProductShape;
/// Whether a node is a MatMul or Gemm of such tensors, factors, bias and post-ops as the tactics here take.
Support supports_matrix_product(const NodeContext& context);
/// The lengths of one of these, whatever its right operand is; the rows of batches that share it count as one matrix's.
ProductShape matrix_product(const NodeContext& context);
/// A MatMul or Gemm whose right operand is constant, as the convolution of one tap that it is.
struct ConstantProduct {
  ConvolutionShape shape;
  std::vector<float> weights;  ///< by filter and channel
  std::vector<float> bias;     ///< or nothing
};
Support supports_constant_product(const NodeContext& context);
ConvolutionShape constant_product_shape(const NodeContext& context);
ConstantProduct constant_product(const NodeContext& context);
/// The lengths of a Conv whose window has one or two dimensions, and whose weights are input number WEIGHTS.
ConvolutionShape convolution_shape(const NodeContext& context, int weights = 1);
DeviceLimits limits_of(const Device& device);
/// The elements of a constant of floats.
std::vector<float> floats_of(const Tensor& tensor);
/// Whether a tensor's elements lie as channels-last has them.
bool lies_channels_last(const Value& value);

/// How far apart an image's pixels lie at PLACE if they follow each other evenly and their channels lie side by side;
/// nothing where they don't.
std::optional<int> pixel_pitch(const Shape& shape, const Place& place);
/// Whether input 0 can be read in vectors of IN channels, and the output and operands of post-ops written and read in
/// such of OUT, where the node's places have them.
bool takes_pitches(const NodeContext& context, int in, int out);

/// The node's post-ops as a struct PostOps, whose parameters ARGUMENTS get.
PostOpsText post_ops_text(const NodeContext& context, std::vector<Argument>& arguments);

/// The program of one tile: WEIGHTS and BIAS are packed for it, OPERANDS are what POST_OPS read.
NodeProgram convolution_program(const ConvolutionShape& shape, const ConvolutionTile& tile,
                                std::vector<std::byte> weights, std::vector<std::byte> bias,
                                const PostOpsText& post_ops, const std::vector<Argument>& operands);
/// The same of a node: what a search over convolution_tiles() tries one by one.
NodeProgram convolution_program(const NodeContext& context, const ConvolutionShape& shape, const ConvolutionTile& tile,
                                std::span<const float> weights, std::span<const float> bias);

}  // namespace saccade::cuda
