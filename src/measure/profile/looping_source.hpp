#pragma once

#include <memory>
#include <string>

#include "media/source.hpp"

namespace saccade {

/// A source that restarts when it ends, so that a short video suffices for a long measurement: frame numbers continue,
/// timestamps are offset by the source's length. Live sources are returned unchanged. Throws Error as open_source()
/// does.
std::unique_ptr<Source> open_looping(const std::string& uri);

}  // namespace saccade
