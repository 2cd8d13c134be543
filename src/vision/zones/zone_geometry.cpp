#include "vision/zones/zone_geometry.hpp"

#include <algorithm>

namespace saccade {
namespace {

/// Whether P, on the line through A and B, is between them.
bool is_between(ZonePoint a, ZonePoint b, ZonePoint p) {
  return std::min(a.x, b.x) <= p.x && p.x <= std::max(a.x, b.x) && std::min(a.y, b.y) <= p.y &&
         p.y <= std::max(a.y, b.y);
}

int sign_of(double value) { return value < 0 ? -1 : value > 0 ? 1 : 0; }

bool is_same_point(ZonePoint a, ZonePoint b) { return a.x == b.x && a.y == b.y; }

}  // namespace

double turn_of(ZonePoint a, ZonePoint b, ZonePoint p) { return (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x); }

bool segments_meet(ZonePoint a, ZonePoint b, ZonePoint c, ZonePoint d) {
  const int c_side = sign_of(turn_of(a, b, c));
  const int d_side = sign_of(turn_of(a, b, d));
  const int a_side = sign_of(turn_of(c, d, a));
  const int b_side = sign_of(turn_of(c, d, b));
  if (c_side * d_side < 0 && a_side * b_side < 0) return true;
  return (c_side == 0 && is_between(a, b, c)) || (d_side == 0 && is_between(a, b, d)) ||
         (a_side == 0 && is_between(c, d, a)) || (b_side == 0 && is_between(c, d, b));
}

bool polygon_contains(std::span<const ZonePoint> corners, ZonePoint p) {
  bool is_inside = false;
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const ZonePoint a = corners[i];
    const ZonePoint b = corners[(i + 1) % corners.size()];
    const double side = turn_of(a, b, p);
    if (side == 0 && is_between(a, b, p)) return true;
    // The ray from P to the right crosses the edge. Each end belongs to the edge below it alone.
    if ((a.y > p.y) != (b.y > p.y) && (side < 0) == (b.y < a.y)) is_inside = !is_inside;
  }
  return is_inside;
}

bool is_simple_polygon(std::span<const ZonePoint> corners) {
  const std::size_t n = corners.size();
  const auto corner = [&](std::size_t i) { return corners[i % n]; };
  for (std::size_t i = 0; i < n; ++i) {
    if (is_same_point(corner(i), corner(i + 1))) return false;
    // The next edge shares a corner, but must not lead back over this one.
    const ZonePoint a = corner(i), b = corner(i + 1), c = corner(i + 2);
    if (turn_of(a, b, c) == 0 && (is_between(a, b, c) || is_between(b, c, a))) return false;
    for (std::size_t k = i + 2; k < n; ++k)
      if ((k + 1) % n != i && segments_meet(a, b, corner(k), corner(k + 1))) return false;
  }
  return n >= 3;
}

ZonePoint anchor_of(const std::array<float, 4>& box, ZoneAnchor anchor) {
  const std::array<double, 4> b = {box[0], box[1], box[2], box[3]};
  const ZonePoint centre = {(b[0] + b[2]) / 2, (b[1] + b[3]) / 2};
  switch (anchor) {
    case ZoneAnchor::kBottom: return {centre.x, b[3]};
    case ZoneAnchor::kTop: return {centre.x, b[1]};
    case ZoneAnchor::kLeft: return {b[0], centre.y};
    case ZoneAnchor::kRight: return {b[2], centre.y};
    case ZoneAnchor::kCenter: break;
  }
  return centre;
}

}  // namespace saccade
