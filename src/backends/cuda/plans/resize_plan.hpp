#pragma once

#include <vector>

#include "ops/sampling/resize_axis.hpp"
#include "runtime/tactic.hpp"

namespace saccade::cuda {

/// The taps of every output along one axis; none where the axis stays as it is.
using AxisTaps = std::vector<ResizeTap>;

/// The taps of all axes of a Resize. Throws Error (kInvalidFile) where its scales or sizes make no sense.
std::vector<AxisTaps> taps_of_axes(const NodeContext& context);
/// Of what the most taps of one output are.
std::size_t most_taps(const AxisTaps& taps);
/// The weights of all outputs, each padded with zeros to the most.
std::vector<float> padded_weights(const AxisTaps& taps);
/// Yes where the node is a Resize by constants.
Support supports_resize(const NodeContext& context);

}  // namespace saccade::cuda
