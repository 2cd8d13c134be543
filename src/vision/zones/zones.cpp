#include "saccade/zones.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/enum_name.hpp"
#include "base/error.hpp"
#include "vision/zones/zone_geometry.hpp"

namespace saccade {
namespace {

constexpr std::chrono::hours kLongestTime(24);

[[noreturn]] void refuse(const Zone& zone, const std::string& why) {
  fail(ErrorCode::kInvalidArgument, "the {} '{}' {}", to_string(zone.kind), zone.name, why);
}

void check_points(const Zone& zone) {
  const bool is_line = zone.kind == ZoneKind::kLine;
  if (is_line && zone.points.size() != 2)
    refuse(zone, fmt::format("has {} points: it has two ends", zone.points.size()));
  if (!is_line && zone.points.size() < 3)
    refuse(zone, fmt::format("has {} points: it needs three or more corners", zone.points.size()));
  if (zone.points.size() > kMostZonePoints)
    refuse(zone, fmt::format("has {} points: it can have {}", zone.points.size(), kMostZonePoints));
  const bool is_share = zone.units == ZoneUnits::kNormalized;
  const double most = is_share ? 1 : kFarthestZonePoint;
  for (const ZonePoint& point : zone.points)
    if (!(point.x >= 0 && point.x <= most && point.y >= 0 && point.y <= most))
      refuse(zone, fmt::format("has a point at ({}, {}): {} are numbers from 0 to {}", point.x, point.y,
                               is_share ? "normalized coordinates" : "coordinates in pixels", most));
  const auto is_tiny = [](const ZonePoint& point) { return point.x <= 1 && point.y <= 1; };
  if (!is_share && std::ranges::all_of(zone.points, is_tiny))
    refuse(zone, "is within the frame's first pixel: for shares of the frame's size, add units = \"normalized\"");
  if (is_line && zone.points[0].x == zone.points[1].x && zone.points[0].y == zone.points[1].y)
    refuse(zone, "has no length: its ends are the same point");
  if (!is_line && !is_simple_polygon(zone.points))
    refuse(zone, "crosses or touches itself: give its corners in order around it, each once");
}

}  // namespace

std::string_view to_string(ZoneKind kind) {
  constexpr std::array<std::string_view, 2> kNames = {"line", "area"};
  return enum_name(kind, kNames);
}

std::string_view to_string(ZoneAnchor anchor) {
  constexpr std::array<std::string_view, 5> kNames = {"bottom", "center", "top", "left", "right"};
  return enum_name(anchor, kNames);
}

std::string_view to_string(ZoneUnits units) {
  constexpr std::array<std::string_view, 2> kNames = {"pixels", "normalized"};
  return enum_name(units, kNames);
}

std::string_view to_string(ZoneEventKind kind) {
  constexpr std::array<std::string_view, 4> kNames = {"in", "out", "enter", "leave"};
  return enum_name(kind, kNames);
}

void check_zones(std::span<const Zone> zones) {
  for (const Zone& zone : zones) {
    if (zone.name.empty()) fail(ErrorCode::kInvalidArgument, "a {} has no name", to_string(zone.kind));
    if (std::ranges::count(zones, zone.name, &Zone::name) > 1)
      fail(ErrorCode::kInvalidArgument, "several zones have the name '{}': give each its own", zone.name);
    if (!(zone.hold >= std::chrono::nanoseconds(0) && zone.hold <= kLongestTime))
      refuse(zone, "has an invalid hold: it is from 0 to a day");
    if (!(zone.lost >= std::chrono::nanoseconds(0) && zone.lost <= kLongestTime))
      refuse(zone, "has an invalid lost: it is from 0 to a day");
    check_points(zone);
  }
}

}  // namespace saccade
