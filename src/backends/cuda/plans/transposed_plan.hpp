#pragma once

#include "cuda/plans/convolution_plan.hpp"

// Transposed convolution as a convolution. The outputs of each of the stride_y x stride_x phases are sums over the same
// few adjacent inputs with different taps. So phases become filters of one convolution of stride 1, whose kernel covers
// all of their inputs, with zeros for the taps that a phase does not have. The epilogue stores each phase at its
// strided position. If kernel and stride are equal, this is a 1x1 convolution without zeros.
namespace saccade::cuda {

/// A transposed convolution of one group, NHWC.
struct TransposedShape {
  DType dtype = DType::kFloat16;
  bool tf32 = false;
  int images = 1;
  int height = 1;
  int width = 1;
  int channels = 1;
  int filters = 1;
  int kernel_height = 1;
  int kernel_width = 1;
  int stride_y = 1;
  int stride_x = 1;
  int pad_y = 0;
  int pad_x = 0;
  int dilation_y = 1;
  int dilation_x = 1;
  int out_height = 1;
  int out_width = 1;
};

/// Whether convolution.cuh can store it: a phase's filters are whole vectors.
inline bool has_whole_phases(const TransposedShape& shape) { return shape.filters % 8 == 0; }
ConvolutionShape phases_of(const TransposedShape& shape);
/// Rearranges WEIGHTS from ONNX order (channel, filter, y, x) to Conv order (filter, channel, y, x) of phases_of().
std::vector<float> phase_weights(const TransposedShape& shape, std::span<const float> weights);
/// BIAS (or nothing), repeated per phase.
std::vector<float> phase_bias(const TransposedShape& shape, std::span<const float> bias);

}  // namespace saccade::cuda
