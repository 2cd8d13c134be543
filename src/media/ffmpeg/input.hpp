#pragma once

#include <string>

#include "ffmpeg/handles.hpp"

namespace saccade {

/// An open file and its video stream.
struct VideoInput {
  AvInput file;
  AVStream* stream = nullptr;  ///< owned by the file
};

/// Opens the local file PATH, and nothing that it references. Only its video stream is read. Throws Error naming PATH
/// if it has none.
VideoInput open_video_input(const std::string& path, const AVIOInterruptCB& interrupt);

/// The stream's rotation, in quarter turns, as an EXIF orientation: phones store images in the sensor's orientation.
int orientation_of(const AVStream& stream);

}  // namespace saccade
