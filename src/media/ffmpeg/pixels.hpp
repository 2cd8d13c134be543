#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ffmpeg/handles.hpp"
#include "tensor/frame.hpp"

namespace saccade {

/// How a decoded image is converted to a frame.
struct PixelPath {
  PixelFormat format;   ///< of the frame
  bool direct = false;  ///< plane by plane; else sample by sample, converted to 8 bits
};

/// The path for an AVPixelFormat; nothing for formats without a counterpart (hardware surfaces, Bayer, 4:1:1, ...).
std::optional<PixelPath> pixel_path(int av_format);

/// Those of IMAGE, whose pixels become a frame of FORMAT. Unspecified ones are BT.601 and limited, as in OpenCV and
/// swscale.
ColorMatrix matrix_of(const AVFrame& image);
ColorRange range_of(const AVFrame& image, PixelFormat format);

/// Copies IMAGE into STORAGE, upright (EXIF orientation; 5 to 8 swap the sides and are not for kI422). SCRATCH is
/// kept between calls.
FrameView copy_image(const AVFrame& image, const PixelPath& path, int orientation, const FrameBuffer& storage,
                     std::vector<std::uint16_t>& scratch);

}  // namespace saccade
