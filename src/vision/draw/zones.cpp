#include "draw/zones.hpp"

#include <algorithm>
#include <cmath>

namespace saccade {
namespace {

constexpr Color kLineColor = {255, 214, 10};
constexpr Color kAreaColor = {10, 200, 255};
constexpr int kAreaOpacity = 40;
constexpr int kZoneRimOpacity = 200;

/// An arrow from the middle of a line to its left side, seen from FROM to TO.
void ink_arrow(const Sheet& sheet, Point from, Point to, float width, Ink& ink) {
  const float length = std::hypot(to.x - from.x, to.y - from.y);
  if (!(length > 0)) return;
  const Point along = {(to.x - from.x) / length, (to.y - from.y) / length};
  const Point left = {along.y, -along.x};
  const auto size = static_cast<float>(sheet.letters);
  const Point start = {(from.x + to.x) / 2, (from.y + to.y) / 2};
  const Point tip = {start.x + 2 * size * left.x, start.y + 2 * size * left.y};
  ink.line(start, tip, width);
  for (const float side : {-1.0F, 1.0F})
    ink.line(tip,
             {tip.x + size * (0.5F * side * along.x - 0.7F * left.x),
              tip.y + size * (0.5F * side * along.y - 0.7F * left.y)},
             width);
}

}  // namespace

Color zone_color(ZoneKind kind) { return kind == ZoneKind::kLine ? kLineColor : kAreaColor; }

Rect label_place_of(const Sheet& sheet, const ZoneState& zone) {
  if (zone.points.empty()) return {};
  const ZonePoint& first = zone.points.front();
  const Point place = sheet.at(static_cast<float>(first.x), static_cast<float>(first.y));
  const auto whole = [](float value, int limit) {
    return static_cast<int>(std::lround(std::clamp(value, 0.0F, static_cast<float>(limit))));
  };
  const int x = whole(place.x, sheet.image.width);
  const int y = whole(place.y, sheet.image.height);
  return {x - sheet.margin, y - sheet.margin, x + sheet.margin, y + sheet.margin};
}

void ZonePainter::draw(const Sheet& sheet, std::span<const ZoneState> zones, Ink& ink) {
  for (const ZoneState& zone : zones) {
    if (zone.points.size() < 2) continue;
    corners_.clear();
    for (const ZonePoint& point : zone.points)
      corners_.push_back(sheet.at(static_cast<float>(point.x), static_cast<float>(point.y)));
    const Color color = zone_color(zone.kind);
    if (zone.kind == ZoneKind::kArea) fill_area(sheet, color);
    const auto width = static_cast<float>(sheet.line);
    ink_outline(sheet, zone, width + 2, ink);
    ink.print(sheet.image, kRim, kZoneRimOpacity);
    ink_outline(sheet, zone, width, ink);
    ink.print(sheet.image, color);
  }
}

/// Each row of pixels between the edges that cross its middle, in pairs (even-odd rule).
void ZonePainter::fill_area(const Sheet& sheet, Color color) {
  const auto height = [](const Point& point) { return point.y; };
  const auto [low, high] = std::ranges::minmax(corners_, {}, height);
  const auto limit = static_cast<float>(sheet.image.height);
  const int top = static_cast<int>(std::clamp(std::floor(low.y), 0.0F, limit));
  const int bottom = static_cast<int>(std::clamp(std::ceil(high.y), 0.0F, limit));
  const auto column = [&](float x) {
    return static_cast<int>(std::lround(std::clamp(x, 0.0F, static_cast<float>(sheet.image.width))));
  };
  for (int row = top; row < bottom; ++row) {
    const float y = static_cast<float>(row) + 0.5F;
    crossings_.clear();
    for (std::size_t i = 0; i < corners_.size(); ++i) {
      const Point a = corners_[i];
      const Point b = corners_[(i + 1) % corners_.size()];
      if ((a.y > y) != (b.y > y)) crossings_.push_back(a.x + (b.x - a.x) * (y - a.y) / (b.y - a.y));
    }
    std::ranges::sort(crossings_);
    for (std::size_t i = 0; i + 1 < crossings_.size(); i += 2)
      fill(sheet.image, {column(crossings_[i]), row, column(crossings_[i + 1]), row + 1}, color, kAreaOpacity);
  }
}

void ZonePainter::ink_outline(const Sheet& sheet, const ZoneState& zone, float width, Ink& ink) const {
  const bool is_line = zone.kind == ZoneKind::kLine;
  const std::size_t edges = is_line ? 1 : corners_.size();
  for (std::size_t i = 0; i < edges; ++i) ink.line(corners_[i], corners_[(i + 1) % corners_.size()], width);
  if (is_line) ink_arrow(sheet, corners_[0], corners_[1], width, ink);
}

}  // namespace saccade
