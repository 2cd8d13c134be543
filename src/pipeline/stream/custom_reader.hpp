#pragma once

#include <memory>

#include "media/frame_reader.hpp"
#include "saccade/custom_source.hpp"

namespace saccade {

/// Reads the frames of SOURCE into a pipeline's pool.
std::unique_ptr<FrameReader> read_custom(std::unique_ptr<CustomSource> source);

}  // namespace saccade
