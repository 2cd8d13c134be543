#pragma once

#include <optional>

#include "media/modules.hpp"
#include "nvdec/annex_b.hpp"

namespace saccade::nvdec {

/// What the first sequence of an elementary stream says.
struct Probe {
  DeviceVideo video;
  int width = 0;          ///< of the visible part, in pixels
  int height = 0;         ///< of the visible part, in pixels
  double frame_rate = 0;  ///< 0: unsaid
};

/// Reads FILE from its beginning until its first sequence is known; nothing if there is none. Throws Error.
std::optional<Probe> probe(AnnexBFile& file, ExactCodec codec, int device);

}  // namespace saccade::nvdec
