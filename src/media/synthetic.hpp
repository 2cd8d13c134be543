#pragma once

#include "media/frame_reader.hpp"

namespace saccade {

/// Renders the frames of a procedural scene (scene/scene.hpp) on demand. Never live. Throws Error naming
/// the invalid option.
std::unique_ptr<FrameReader> open_synthetic(const std::string& uri);
/// The next frame of SCENE, which has one: it was not cancelled and has no end. Throws Error (kInternal).
Frame read_scene(FrameReader& scene, FrameAllocator& allocator);

}  // namespace saccade
