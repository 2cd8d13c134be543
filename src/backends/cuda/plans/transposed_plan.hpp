#pragma once

#include "cuda/plans/convolution_plan.hpp"

// A transposed convolution as one that isn't: every stride_y x stride_x outputs, which are as many phases, sum up the
// same few neighbouring inputs, each with taps of its own. So the phases are filters of one convolution of stride 1,
// whose kernel covers all of their inputs with zeros for what a phase doesn't see; its stores put each phase into its
// place. Where kernel and stride are equal that is a 1x1 convolution without a zero.
namespace saccade::cuda {

/// The lengths of a transposed convolution of one group, NHWC.
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

/// Whether convolution.cuh stores it: filters of one phase are whole vectors.
inline bool has_whole_phases(const TransposedShape& shape) { return shape.filters % 8 == 0; }
ConvolutionShape phases_of(const TransposedShape& shape);
/// WEIGHTS in ONNX's order (channel, filter, y, x), as phases_of() has them in Conv's (filter, channel, y, x).
std::vector<float> phase_weights(const TransposedShape& shape, std::span<const float> weights);
/// BIAS (or nothing), once a phase.
std::vector<float> phase_bias(const TransposedShape& shape, std::span<const float> bias);

}  // namespace saccade::cuda
