#pragma once

#include <optional>
#include <string>

#include "media/modules.hpp"

namespace saccade {

/// The codec of the elementary stream PATH, by the ending of its name (.h264, .264, .avc; .h265, .265, .hevc); nothing
/// for other files.
std::optional<ExactCodec> elementary_codec(const std::string& path);

}  // namespace saccade
