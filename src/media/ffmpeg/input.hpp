#pragma once

#include <string>

#include "ffmpeg/handles.hpp"

namespace saccade {

/// A file that is being read, and the stream in it that is shown.
struct VideoInput {
  AvInput file;
  AVStream* stream = nullptr;  ///< belongs to the file
};

/// Opens the local file PATH alone: nothing that it refers to. Of its streams, only the video is read. Throws Error
/// naming it where it holds no video.
VideoInput open_video_input(const std::string& path, const AVIOInterruptCB& interrupt);

/// EXIF's number of the quarter turns that a phone notes beside the images that it stores lying.
int orientation_of(const AVStream& stream);

}  // namespace saccade
