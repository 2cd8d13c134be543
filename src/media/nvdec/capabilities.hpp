#pragma once

#include <string>

#include "media/modules.hpp"
#include "nvdec/nvcuvid_api.hpp"

namespace saccade::nvdec {

/// Why the GPU with the number DEVICE can't decode VIDEO, in a part of a sentence; empty: it can.
std::string refusal(const DeviceVideo& video, int device);

cuda::cudaVideoCodec codec_of(ExactCodec codec);
/// "H.264", "HEVC", ...
const char* name_of(ExactCodec codec);

}  // namespace saccade::nvdec
