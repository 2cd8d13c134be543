#include "vision/tile_overlap.hpp"

#include <algorithm>
#include <cmath>

namespace saccade {
namespace {

struct OverlapPoint {
  float x = 0;
  float y = 0;
};

/// A convex polygon. Each of four half-planes adds one corner at most to the four of a box.
struct ConvexPolygon {
  std::array<OverlapPoint, 8> corners;
  std::size_t count = 0;

  void add(OverlapPoint point) {
    if (count < corners.size()) corners[count++] = point;
  }
};

/// The corner of BOX with this index, relative to ORIGIN and rotated by -ANGLE.
OverlapPoint corner_in(const std::array<float, 8>& corners, std::size_t i, OverlapPoint origin, float angle) {
  const float x = corners[2 * i] - origin.x;
  const float y = corners[2 * i + 1] - origin.y;
  return {x * std::cos(angle) + y * std::sin(angle), y * std::cos(angle) - x * std::sin(angle)};
}

/// The part of POLYGON with SIDE(point) >= 0 (Sutherland and Hodgman, 1974).
template <typename Side>
ConvexPolygon clipped(const ConvexPolygon& polygon, Side side) {
  ConvexPolygon part;
  for (std::size_t i = 0; i < polygon.count; ++i) {
    const OverlapPoint from = polygon.corners[i];
    const OverlapPoint to = polygon.corners[(i + 1) % polygon.count];
    const float before = side(from);
    const float after = side(to);
    if (before >= 0) part.add(from);
    if ((before >= 0) == (after >= 0)) continue;
    const float at = before / (before - after);
    part.add({from.x + at * (to.x - from.x), from.y + at * (to.y - from.y)});
  }
  return part;
}

float area_of(const ConvexPolygon& polygon) {
  float twice = 0;
  for (std::size_t i = 0; i < polygon.count; ++i) {
    const OverlapPoint a = polygon.corners[i];
    const OverlapPoint b = polygon.corners[(i + 1) % polygon.count];
    twice += a.x * b.y - b.x * a.y;
  }
  return std::abs(twice) / 2;
}

float share_of_smaller(float common, float area, float other) {
  const float smaller = std::min(area, other);
  return smaller > 0 && common > 0 ? std::min(common / smaller, 1.0F) : 0;
}

}  // namespace

float intersection_over_smaller(const std::array<float, 4>& a, const std::array<float, 4>& b) {
  const float width = std::min(a[2], b[2]) - std::max(a[0], b[0]);
  const float height = std::min(a[3], b[3]) - std::max(a[1], b[1]);
  if (!(width > 0 && height > 0)) return 0;
  return share_of_smaller(width * height, (a[2] - a[0]) * (a[3] - a[1]), (b[2] - b[0]) * (b[3] - b[1]));
}

float intersection_over_smaller(const OrientedBox& a, const OrientedBox& b) {
  const std::array<float, 8> corners = b.corners();
  ConvexPolygon polygon;
  for (std::size_t i = 0; i < 4; ++i) polygon.add(corner_in(corners, i, {a.x, a.y}, a.angle));
  const float right = a.width / 2;
  const float bottom = a.height / 2;
  polygon = clipped(polygon, [&](OverlapPoint p) { return right - p.x; });
  polygon = clipped(polygon, [&](OverlapPoint p) { return right + p.x; });
  polygon = clipped(polygon, [&](OverlapPoint p) { return bottom - p.y; });
  polygon = clipped(polygon, [&](OverlapPoint p) { return bottom + p.y; });
  return share_of_smaller(area_of(polygon), a.width * a.height, b.width * b.height);
}

OrientedBox enclosing(const OrientedBox& a, const OrientedBox& b) {
  const std::array<float, 8> corners = b.corners();
  OverlapPoint low{-a.width / 2, -a.height / 2};
  OverlapPoint high{a.width / 2, a.height / 2};
  for (std::size_t i = 0; i < 4; ++i) {
    const OverlapPoint corner = corner_in(corners, i, {a.x, a.y}, a.angle);
    low = {std::min(low.x, corner.x), std::min(low.y, corner.y)};
    high = {std::max(high.x, corner.x), std::max(high.y, corner.y)};
  }
  const float x = (low.x + high.x) / 2;
  const float y = (low.y + high.y) / 2;
  return {a.x + x * std::cos(a.angle) - y * std::sin(a.angle), a.y + x * std::sin(a.angle) + y * std::cos(a.angle),
          high.x - low.x, high.y - low.y, a.angle};
}

}  // namespace saccade
