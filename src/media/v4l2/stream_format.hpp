#pragma once

#include <cstddef>

#include "media/v4l2/device.hpp"
#include "media/v4l2/modes.hpp"

namespace saccade::v4l2 {

/// What a camera has agreed to deliver.
struct StreamFormat {
  Mode mode;
  int pitch_bytes = 0;          ///< of the first plane
  std::size_t image_bytes = 0;  ///< of a buffer
  std::size_t frame_bytes = 0;  ///< fewest of a whole frame; JPEG: 1
  ColorMatrix matrix = ColorMatrix::kBt601;
  ColorRange range = ColorRange::kLimited;
};

/// Chooses the best mode that OPTIONS allow and sets it. Throws Error (kInvalidArgument) with the modes that there are
/// if none is what OPTIONS say, (kUnsupported) if no format can be read, (kDevice) if the camera refuses.
StreamFormat set_format(const Device& device, const CameraOptions& options, const ModelSize& model);

/// The planes of a frame of FORMAT, uncompressed, at DATA.
FrameView view_of(const StreamFormat& format, const std::byte* data, MemoryKind memory);

}  // namespace saccade::v4l2
