#pragma once

#include "media/frame_reader.hpp"

namespace saccade {

/// Creates PATH as .mp4, .m4v, .mov, .mkv or .avi. Throws Error naming the file.
std::unique_ptr<VideoWriter> open_writer(const std::string& path, double frame_rate, OutputPath::Claim claim);
/// FfmpegModule::open_publisher
std::unique_ptr<VideoWriter> push_video(const std::string& url, double frame_rate);

}  // namespace saccade
