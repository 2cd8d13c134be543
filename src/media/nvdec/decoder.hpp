#pragma once

#include <memory>

#include "media/modules.hpp"

namespace saccade::nvdec {

/// See NvdecModule::open.
std::unique_ptr<DeviceDecoder> open_decoder(DeviceVideo video, int device, FrameAllocator& frames);

}  // namespace saccade::nvdec
