#pragma once

#include "media/frame_reader.hpp"

namespace saccade::nvdec {

/// See NvdecModule::open_elementary.
std::unique_ptr<FrameReader> open_elementary(const std::string& path, const ReaderOptions& options);

}  // namespace saccade::nvdec
