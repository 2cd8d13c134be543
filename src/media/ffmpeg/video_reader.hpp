#pragma once

#include "media/frame_reader.hpp"

namespace saccade {

/// Opens a local video file. Throws Error naming the file.
std::unique_ptr<FrameReader> open_video(const std::string& path, const ReaderOptions& options);

}  // namespace saccade
