#pragma once

#include <span>

#include "saccade/frame.hpp"
#include "saccade/image.hpp"
#include "saccade/results.hpp"

namespace saccade {

/// FRAME in kRgb24 with RESULTS drawn on it, in their order, as open_frames() writes it (docs/drawing.md). RESULTS are
/// of that frame. A generated image replaces the frame. The paths of tracks are not drawn: they are of several frames.
/// Throws Error (kInvalidArgument) as convert() does, and (kNotFound) without the module `draw`. Any thread.
Image draw(const FrameView& frame, std::span<const Result> results);

}  // namespace saccade
