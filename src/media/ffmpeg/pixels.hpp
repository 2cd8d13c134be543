#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ffmpeg/handles.hpp"
#include "tensor/frame.hpp"

namespace saccade {

/// How a decoder's image becomes one of our frames.
struct PixelPath {
  PixelFormat format;   ///< of the frame
  bool direct = false;  ///< plane for plane; else sample for sample, brought to 8 bits
};

/// The path for an AVPixelFormat; none for what has no counterpart (hardware surfaces, Bayer, 4:1:1, ...).
std::optional<PixelPath> pixel_path(int av_format);

/// Copies PICTURE into STORAGE, turned upright (EXIF's numbers; 5 to 8 swap the sides and are not for kI422).
/// Matrix and range are the stream's; unspecified ones are BT.601 and limited, as OpenCV and swscale assume. SCRATCH is
/// kept between calls.
FrameView copy_picture(const AVFrame& picture, const PixelPath& path, int orientation, const FrameBuffer& storage,
                       std::vector<std::uint16_t>& scratch);

}  // namespace saccade
