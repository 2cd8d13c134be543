#pragma once

#include <memory>
#include <string>

#include "media/frame_reader.hpp"

namespace saccade {

/// A reader that begins again, or is opened again by OPEN, when it ends: frame numbers continue, timestamps are offset
/// by the length of a round. Live sources are returned unchanged. Throws what OPEN throws.
std::unique_ptr<FrameReader> open_looping(OpenReader open);
/// The same for URI. Throws Error as open_reader() does.
std::unique_ptr<FrameReader> open_looping(const std::string& uri);

}  // namespace saccade
