#pragma once

#include "draw/ink.hpp"
#include "draw/sheet.hpp"
#include "saccade/contours.hpp"

namespace saccade {

/// A translucent mask.
void draw_silhouette(const Sheet& sheet, const Mask& mask, Color color);
/// The outer borders of a mask.
void draw_border(const Sheet& sheet, const Mask& mask, Color color, ContourTracer& tracer, Ink& ink);
void draw_oriented(const Sheet& sheet, const OrientedBox& box, Color color, Ink& ink);

}  // namespace saccade
