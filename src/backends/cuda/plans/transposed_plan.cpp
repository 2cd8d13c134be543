#include "cuda/plans/transposed_plan.hpp"

#include <algorithm>
#include <climits>

namespace saccade::cuda {
namespace {

/// One axis. Output q * stride + phase receives tap T from input q + shift, if the tap reaches that phase.
struct Axis {
  int kernel, stride, pad, dilation;
  int least = INT_MAX;  ///< shift
  int most = INT_MIN;

  Axis(int kernel_length, int stride_length, int pad_length, int dilation_length)
      : kernel(kernel_length), stride(stride_length), pad(pad_length), dilation(dilation_length) {
    for (int phase = 0; phase < stride; ++phase)
      for (int tap = 0; tap < kernel; ++tap)
        if (reaches(phase, tap)) {
          least = std::min(least, shift(phase, tap));
          most = std::max(most, shift(phase, tap));
        }
  }
  bool reaches(int phase, int tap) const { return (phase + pad - tap * dilation) % stride == 0; }
  int shift(int phase, int tap) const { return (phase + pad - tap * dilation) / stride; }
  int length() const { return most - least + 1; }
};

Axis vertical(const TransposedShape& s) { return {s.kernel_height, s.stride_y, s.pad_y, s.dilation_y}; }
Axis horizontal(const TransposedShape& s) { return {s.kernel_width, s.stride_x, s.pad_x, s.dilation_x}; }

}  // namespace

ConvolutionShape phases_of(const TransposedShape& shape) {
  const Axis y = vertical(shape);
  const Axis x = horizontal(shape);
  ConvolutionShape phases;
  phases.dtype = shape.dtype;
  phases.tf32 = shape.tf32;
  phases.images = shape.images;
  phases.height = shape.height;
  phases.width = shape.width;
  phases.in_pitch = phases.channels = shape.channels;
  phases.out_height = (shape.out_height + shape.stride_y - 1) / shape.stride_y;
  phases.out_width = (shape.out_width + shape.stride_x - 1) / shape.stride_x;
  phases.out_pitch = shape.filters;
  phases.filters = shape.stride_y * shape.stride_x * shape.filters;
  phases.kernel_height = y.length();
  phases.kernel_width = x.length();
  phases.pad_y = -y.least;
  phases.pad_x = -x.least;
  phases.scale_y = shape.stride_y;
  phases.scale_x = shape.stride_x;
  phases.scaled_height = shape.out_height;
  phases.scaled_width = shape.out_width;
  return phases;
}

std::vector<float> phase_weights(const TransposedShape& shape, std::span<const float> weights) {
  const Axis y = vertical(shape);
  const Axis x = horizontal(shape);
  const ConvolutionShape phases = phases_of(shape);
  std::vector<float> result(static_cast<std::size_t>(phases.filters) * static_cast<std::size_t>(phases.channels) *
                            static_cast<std::size_t>(phases.taps()));
  const float* from = weights.data();
  for (int channel = 0; channel < shape.channels; ++channel)
    for (int filter = 0; filter < shape.filters; ++filter)
      for (int tap_y = 0; tap_y < shape.kernel_height; ++tap_y)
        for (int tap_x = 0; tap_x < shape.kernel_width; ++tap_x, ++from)
          for (int phase = 0; phase < shape.stride_y * shape.stride_x; ++phase) {
            const int phase_y = phase / shape.stride_x;
            const int phase_x = phase % shape.stride_x;
            if (!y.reaches(phase_y, tap_y) || !x.reaches(phase_x, tap_x)) continue;
            const int row = phase * shape.filters + filter;
            const int line =
                (row * shape.channels + channel) * phases.kernel_height + y.shift(phase_y, tap_y) - y.least;
            const int at = line * phases.kernel_width + x.shift(phase_x, tap_x) - x.least;
            result[static_cast<std::size_t>(at)] = *from;
          }
  return result;
}

std::vector<float> phase_bias(const TransposedShape& shape, std::span<const float> bias) {
  std::vector<float> result;
  for (int phase = 0; phase < shape.stride_y * shape.stride_x; ++phase)
    result.insert(result.end(), bias.begin(), bias.end());
  return result;
}

}  // namespace saccade::cuda
