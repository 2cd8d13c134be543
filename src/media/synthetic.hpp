#pragma once

#include "media/source.hpp"

namespace saccade {

/// A source of the frames of a procedural scene (scene/scene.hpp), as fast as they are asked for; never live. Throws
/// Error naming the option that can't be.
std::unique_ptr<Source> open_synthetic(const std::string& uri);

}  // namespace saccade
