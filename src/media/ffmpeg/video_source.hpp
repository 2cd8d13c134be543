#pragma once

#include "media/source.hpp"

namespace saccade {

/// Opens a local video file. Throws Error naming the file.
std::unique_ptr<Source> open_video(const std::string& path, const SourceOptions& options);

}  // namespace saccade
