#pragma once

#include <array>
#include <span>

#include "saccade/zones.hpp"

namespace saccade {

/// The most points of a zone.
inline constexpr std::size_t kMostZonePoints = 1000;
/// The largest coordinate, in pixels.
inline constexpr double kFarthestZonePoint = 1 << 20;

/// Twice the area of the triangle A B P: negative if P is to the left of the way from A to B in the image (y points
/// down), positive to the right, 0 on the line through both. Exact for integers below 2^26.
double turn_of(ZonePoint a, ZonePoint b, ZonePoint p);

/// Whether the segments A B and C D have a point in common; ends belong to them.
bool segments_meet(ZonePoint a, ZonePoint b, ZonePoint c, ZonePoint d);

/// Whether P is in the polygon of CORNERS or on its border (even-odd rule).
bool polygon_contains(std::span<const ZonePoint> corners, ZonePoint p);

/// Whether the polygon of CORNERS neither crosses nor touches itself, and no edge has the length 0.
bool is_simple_polygon(std::span<const ZonePoint> corners);

/// The position of an object with the box BOX (x1, y1, x2, y2).
ZonePoint anchor_of(const std::array<float, 4>& box, ZoneAnchor anchor);

}  // namespace saccade
