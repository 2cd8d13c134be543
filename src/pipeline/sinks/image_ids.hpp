#pragma once

#include <span>
#include <string>

#include "saccade/source.hpp"

namespace saccade {

/// Throws Error (kConflict) with the names of two frames of SOURCES that would have the same image_id in the results
/// file PATH.
void check_image_ids(const std::string& path, std::span<const Source> sources);

}  // namespace saccade
