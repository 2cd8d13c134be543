#pragma once

#include <array>
#include <vector>

#include "ops/core/op.hpp"

namespace saccade {

/// The sliding window of a convolution or pool: one entry per spatial axis, outermost first. There are always three;
/// missing axes come first with a length of 1.
struct Window {
  static constexpr int kAxes = 3;
  using Axes = std::array<std::int64_t, kAxes>;

  int rank = 0;  ///< spatial axes of the operator, 1 to 3
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
  /// The dilated length of a window along an axis.
  std::int64_t extent(std::size_t axis) const { return (kernel[axis] - 1) * dilation[axis] + 1; }
  /// BATCH x CHANNELS x the output's spatial axes.
  Shape output_shape(std::int64_t batch, std::int64_t channels) const;
};

/// The kernel's spatial lengths: dimensions 2 and up of a convolution's weights, checked against kernel_shape.
std::vector<std::int64_t> kernel_of(const Attributes& attributes, const Shape& weights);

/// The window of a convolution or pool over INPUT (N, C, spatial): attributes strides, dilations, pads, auto_pad,
/// ceil_mode. Throws Error (kInvalidFile, kUnsupported) if they are invalid or the window does not fit.
Window slide(const Attributes& attributes, const Shape& input, const std::vector<std::int64_t>& kernel);

/// The same for a transposed convolution, with output_padding and output_shape; `out` is the size of its result.
Window slide_transposed(const Attributes& attributes, const Shape& input, const std::vector<std::int64_t>& kernel);

/// The input position that every tap of every output reads along one axis; -1 in the padding (and between the strides
/// of a transposed window).
class Taps {
 public:
  Taps(const Window& window, std::size_t axis, bool transposed = false);

  /// The positions read by one tap, by output.
  const std::int64_t* of(std::int64_t tap) const { return index_.data() + tap * outputs_; }

 private:
  std::int64_t outputs_;
  std::vector<std::int64_t> index_;
};

/// The taps of the three axes.
std::array<Taps, Window::kAxes> taps_of(const Window& window, bool transposed = false);

}  // namespace saccade
