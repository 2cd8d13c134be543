#pragma once

#include <array>
#include <vector>

#include "ops/core/op.hpp"

namespace saccade {

/// How a convolution's or pool's window slides: one entry a spatial axis, outermost first. There are always three;
/// axes that the operator lacks stand in front with a length of 1.
struct Window {
  static constexpr int kAxes = 3;
  using Axes = std::array<std::int64_t, kAxes>;

  int rank = 0;  ///< spatial axes that the operator has, 1 to 3
  Axes in{1, 1, 1};
  Axes out{1, 1, 1};
  Axes kernel{1, 1, 1};
  Axes stride{1, 1, 1};
  Axes dilation{1, 1, 1};
  Axes pad_begin{0, 0, 0};
  Axes pad_end{0, 0, 0};

  std::int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
  std::int64_t inputs() const { return in[0] * in[1] * in[2]; }
  std::int64_t outputs() const { return out[0] * out[1] * out[2]; }
  /// From a window's first to its last element along an axis, both included.
  std::int64_t extent(std::size_t axis) const { return (kernel[axis] - 1) * dilation[axis] + 1; }
  /// BATCH x CHANNELS x the output's spatial axes.
  Shape output_shape(std::int64_t batch, std::int64_t channels) const;
};

/// The kernel's spatial lengths: dimensions 2 and up of a convolution's weights, checked against kernel_shape.
std::vector<std::int64_t> kernel_of(const Attributes& attributes, const Shape& weights);

/// The window of a convolution or pool over INPUT (N, C, spatial): attributes strides, dilations, pads, auto_pad,
/// ceil_mode. Throws Error (kInvalidFile, kUnsupported) where they make no sense or the window does not fit.
Window slide(const Attributes& attributes, const Shape& input, const std::vector<std::int64_t>& kernel);

/// The same of a transposed convolution: output_padding and output_shape too; `out` is what it scatters to.
Window slide_transposed(const Attributes& attributes, const Shape& input, const std::vector<std::int64_t>& kernel);

/// Which element of the input every tap of every output reads along one axis; -1 in the padding (and between the
/// strides of a transposed window).
class Taps {
 public:
  Taps(const Window& window, std::size_t axis, bool transposed = false);

  /// The positions that one tap reads, by output.
  const std::int64_t* of(std::int64_t tap) const { return index_.data() + tap * outputs_; }

 private:
  std::int64_t outputs_;
  std::vector<std::int64_t> index_;
};

/// The three axes' taps.
std::array<Taps, Window::kAxes> taps_of(const Window& window, bool transposed = false);

}  // namespace saccade
