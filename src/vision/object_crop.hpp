#pragma once

#include <optional>

#include "saccade/results.hpp"
#include "tensor/frame.hpp"

namespace saccade {

/// The pixels of FRAME that OBJECT's box touches, for crop(): with MARGIN times its width or height on each side, cut
/// at the frame's borders, and begun at a whole chroma sample. Nothing if there are none.
std::optional<Region> object_region(const Detection& object, float margin, const FrameView& frame);

}  // namespace saccade
