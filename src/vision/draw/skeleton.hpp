#pragma once

#include <span>

#include "draw/ink.hpp"
#include "draw/sheet.hpp"

namespace saccade {

/// An object's keypoints: COCO's 17 joints with their limbs, coloured by the body's side; other numbers as dots.
/// OBJECT, where it lies on the image, decides how thick. Points of a confidence below 0.25 are left out.
void draw_keypoints(const Sheet& sheet, std::span<const Keypoint> points, const Rect& object, Ink& ink);

}  // namespace saccade
