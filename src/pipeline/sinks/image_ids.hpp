#pragma once

#include <span>
#include <string>

#include "saccade/camera.hpp"

namespace saccade {

/// Throws Error (kConflict) naming two frames of CAMERAS that would have one image_id in the results file PATH: answers
/// to both would be taken for answers to one.
void check_image_ids(const std::string& path, std::span<const Camera> cameras);

}  // namespace saccade
