#pragma once

#include "media/source.hpp"

namespace saccade {

/// A source of the frames of a procedural scene (scene/scene.hpp), rendered on demand; never live. Throws Error naming
/// the invalid option.
std::unique_ptr<Source> open_synthetic(const std::string& uri);

}  // namespace saccade
