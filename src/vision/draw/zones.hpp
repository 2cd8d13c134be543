#pragma once

#include <span>
#include <vector>

#include "draw/sheet.hpp"

namespace saccade {

/// Draws lines with an arrow to their inner side, and areas as translucent polygons. Reuses its memory.
class ZonePainter {
 public:
  /// INK is empty.
  void draw(const Sheet& sheet, std::span<const ZoneState> zones, Ink& ink);

 private:
  void fill_area(const Sheet& sheet, Color color);
  void ink_outline(const Sheet& sheet, const ZoneState& zone, float width, Ink& ink) const;

  std::vector<Point> corners_;  ///< of the current zone, in pixels of the image
  std::vector<float> crossings_;
};

/// The colour of a zone's lines.
Color zone_color(ZoneKind kind);
/// Where a zone's label is: at its first point. The arrow of a line is at its middle.
Rect label_place_of(const Sheet& sheet, const ZoneState& zone);

}  // namespace saccade
