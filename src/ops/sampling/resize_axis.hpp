#pragma once

#include <vector>

#include "graph/attributes.hpp"

namespace saccade {

/// One axis of a Resize: its new length and the mapping from outputs to inputs.
struct ResizeAxis {
  std::int64_t in = 1;
  std::int64_t out = 1;
  float scale = 1;
  float roi_start = 0;
  float roi_end = 1;
  bool resized = false;  ///< false if the node does not resize the axis
};

/// Every axis of a tensor of shape INPUT. SCALES or SIZES has an entry for each axis of the attribute `axes` (default:
/// all), the other is empty; ROI is empty or contains their starts, then their ends. Throws Error (kInvalidFile) if
/// they are invalid.
std::vector<ResizeAxis> resize_axes(const Attributes& attributes, const Shape& input, const std::vector<float>& scales,
                                    const std::vector<std::int64_t>& sizes, const std::vector<float>& roi);

/// One output along an axis: weights of the inputs from `first` on.
struct ResizeTap {
  std::int64_t first = 0;
  std::vector<float> weights;
  bool outside = false;  ///< beyond the input, where tf_crop_and_resize uses extrapolation_value
};

/// The taps of every output of AXIS; in nearest mode one with weight 1 each. Coordinates are computed in float32 as in
/// ONNX Runtime, so that ties are resolved alike.
std::vector<ResizeTap> resize_taps(const Attributes& attributes, const ResizeAxis& axis);

}  // namespace saccade
