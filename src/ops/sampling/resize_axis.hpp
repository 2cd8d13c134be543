#pragma once

#include <vector>

#include "graph/attributes.hpp"

namespace saccade {

/// One axis of a Resize: how long it becomes and how outputs map to inputs.
struct ResizeAxis {
  std::int64_t in = 1;
  std::int64_t out = 1;
  float scale = 1;
  float roi_start = 0;
  float roi_end = 1;
  bool resized = false;  ///< false where the node leaves the axis as it is
};

/// Every axis of a tensor of shape INPUT. SCALES or SIZES has an entry for each of the attribute `axes` (all of them by
/// default), the other is empty; ROI is empty or holds their starts, then their ends.
/// Throws Error (kInvalidFile) where they make no sense.
std::vector<ResizeAxis> resize_axes(const Attributes& attributes, const Shape& input, const std::vector<float>& scales,
                                    const std::vector<std::int64_t>& sizes, const std::vector<float>& roi);

/// What one output along an axis is made of: weights of the inputs from `first` on.
struct ResizeTap {
  std::int64_t first = 0;
  std::vector<float> weights;
  bool outside = false;  ///< beyond the input, where tf_crop_and_resize wants extrapolation_value
};

/// The taps of every output of AXIS; a single weight of 1 each in nearest mode. Follows ONNX Runtime in computing
/// coordinates in float32, so that ties fall alike.
std::vector<ResizeTap> resize_taps(const Attributes& attributes, const ResizeAxis& axis);

}  // namespace saccade
