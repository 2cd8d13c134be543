#pragma once

#include <memory>

#include "media/frame_reader.hpp"

namespace saccade {

/// READER as a camera: a live source whose frames are captured at their timestamps, counted from the first one.
/// Decoding ahead of a frame's time is not part of its capture; decoding after it is, so that a decoder that is too
/// slow shows in the latencies. It is at most four periods behind: frames that were not read by then are kNoBuffer, as
/// a camera has a few buffers, and a decoder that is too slow delays the schedule. A jump of the timestamps back, or by
/// more than a minute, begins a new schedule. Throws Error (kInvalidArgument) if READER has no frame rate.
std::unique_ptr<FrameReader> pace(std::unique_ptr<FrameReader> reader);

}  // namespace saccade
