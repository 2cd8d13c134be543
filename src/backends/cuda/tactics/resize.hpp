#pragma once

#include <vector>

#include "ops/sampling/resize_axis.hpp"
#include "runtime/tactic.hpp"

namespace saccade::cuda {

/// Taps of every output along one axis; empty if the axis is not resized.
using AxisTaps = std::vector<ResizeTap>;

/// Taps of all axes of a Resize. Throws Error (kInvalidFile) if its scales or sizes are invalid.
std::vector<AxisTaps> taps_of_axes(const NodeContext& context);
/// Maximum number of taps of an output.
std::size_t max_taps(const AxisTaps& taps);
/// Weights of all outputs, zero-padded to the maximum number of taps.
std::vector<float> padded_weights(const AxisTaps& taps);
/// Whether the node is a Resize with constant parameters.
Support supports_resize(const NodeContext& context);

}  // namespace saccade::cuda
