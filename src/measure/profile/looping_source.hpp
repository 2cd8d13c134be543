#pragma once

#include <memory>
#include <string>

#include "media/source.hpp"

namespace saccade {

/// A source that starts again when it ends, so that a short video lasts for a long measurement: frames are counted on,
/// timestamps go on by the source's length. Live sources are as they are. Throws Error as open_source() does.
std::unique_ptr<Source> open_looping(const std::string& uri);

}  // namespace saccade
