#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "saccade/results.hpp"

namespace saccade {

/// The pixels of an image of WIDTH x HEIGHT that lie in a polygon, as COCO's run lengths (RunLengths::decode() makes a
/// mask of them): equal to pycocotools' frPyObjects() to the pixel. CORNERS are x and y in turns, three corners or
/// more. Throws Error (kInvalidFile) where they are fewer, or lie more than 2^20 pixels off.
std::vector<std::int64_t> polygon_counts(std::span<const double> corners, int width, int height);

/// The pixels that lie in either mask. Runs in ascending order of y, then x, as a Mask has them.
std::vector<MaskRun> united(std::span<const MaskRun> a, std::span<const MaskRun> b);

}  // namespace saccade
