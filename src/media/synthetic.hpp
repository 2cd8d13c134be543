#pragma once

#include "media/frame_reader.hpp"

namespace saccade {

/// Renders the frames of a procedural scene (scene/scene.hpp) on demand. Never live. Throws Error naming
/// the invalid option.
std::unique_ptr<FrameReader> open_synthetic(const std::string& uri);

}  // namespace saccade
