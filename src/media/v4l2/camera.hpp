#pragma once

#include <memory>
#include <string>

#include "media/frame_reader.hpp"
#include "media/v4l2/modes.hpp"
#include "media/v4l2/system_calls.hpp"

namespace saccade::v4l2 {

/// Opens the camera URI (is_camera()): a live source. Its frames are the driver's buffers, lent, or those of the
/// allocator. A camera that fails or is unplugged is waited for: read() returns kTimeout with a message meanwhile.
/// MODEL is the size that is preferred where the URI says none. Throws Error naming the camera and what it offers.
std::unique_ptr<FrameReader> open_camera(const std::string& uri, const ModelSize& model = {},
                                         std::shared_ptr<SystemCalls> calls = linux_calls());

}  // namespace saccade::v4l2
