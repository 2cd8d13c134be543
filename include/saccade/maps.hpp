#pragma once

#include <cstdint>
#include <span>

#include "saccade/results.hpp"

namespace saccade {

/// Sets PIXELS, row by row, to MAP.at() for each pixel of a frame of WIDTH x HEIGHT. Throws Error (kInvalidArgument)
/// for a side below 1, or unless PIXELS has WIDTH * HEIGHT elements. Any thread.
void to_pixels(const ClassMap& map, int width, int height, std::span<std::int32_t> pixels);
/// Sets PIXELS, row by row, to MAP.at() for each pixel of a frame of WIDTH x HEIGHT. Throws Error (kInvalidArgument)
/// for a side below 1, or unless PIXELS has WIDTH * HEIGHT elements. Any thread.
void to_pixels(const DepthMap& map, int width, int height, std::span<float> pixels);

}  // namespace saccade
