#pragma once

#include <memory>
#include <string>

#include "media/frame_reader.hpp"

namespace saccade {

/// A reader that opens URI again when it ends: frame numbers continue, timestamps are offset by the length of a round.
/// Live sources are returned unchanged. Throws Error as open_reader() does.
std::unique_ptr<FrameReader> open_looping(const std::string& uri, const ReaderOptions& options = {});

}  // namespace saccade
