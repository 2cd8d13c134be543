#pragma once

#include <span>

#include "draw/ink.hpp"
#include "draw/sheet.hpp"

namespace saccade {

/// An object's keypoints: COCO's 17 joints with their limbs, coloured by side of the body; other keypoints as dots. The
/// thickness follows from OBJECT, the box on the image. Points with a confidence below 0.25 are omitted.
void draw_keypoints(const Sheet& sheet, std::span<const Keypoint> points, const Rect& object, Ink& ink);

}  // namespace saccade
