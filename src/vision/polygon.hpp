#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "saccade/results.hpp"

namespace saccade {

/// The pixels of an image of WIDTH x HEIGHT inside a polygon, as COCO run lengths for RunLengths::decode(), identical
/// to pycocotools' frPyObjects(). CORNERS are x and y, alternating, of at least three corners. Throws Error
/// (kInvalidFile) if there are fewer, or if one is more than 2^20 pixels away.
std::vector<std::int64_t> polygon_counts(std::span<const double> corners, int width, int height);

/// The union of two masks. Runs in ascending order of y, then x, as in a Mask.
std::vector<MaskRun> united(std::span<const MaskRun> a, std::span<const MaskRun> b);

}  // namespace saccade
