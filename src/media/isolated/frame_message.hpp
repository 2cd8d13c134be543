#pragma once

#include "media/isolated/child_pool.hpp"
#include "media/isolated/protocol.hpp"
#include "tensor/frame.hpp"

namespace saccade::isolated {

/// Copies the samples of FROM, which are in a driver's memory, into BUFFER.
FrameView copy_of(const FrameView& from, const FrameBuffer& buffer);

/// The message about FRAME, whose samples are at PLACE.
FrameHead head_of(const Frame& frame, const ChildPool::Place& place);

}  // namespace saccade::isolated
