#pragma once

#include <memory>

#include "media/frame_reader.hpp"

namespace saccade {

/// READER as a camera: a live source whose frames arrive at their timestamps, counted from the first one. Frames that
/// are decoded too late arrive at once. Throws Error (kInvalidArgument) if READER has no frame rate.
std::unique_ptr<FrameReader> pace(std::unique_ptr<FrameReader> reader);

}  // namespace saccade
