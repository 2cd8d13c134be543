#pragma once

#include <fmt/format.h>

#include "draw/label_places.hpp"
#include "draw/maps.hpp"
#include "draw/sheet.hpp"
#include "draw/text.hpp"

namespace saccade {

/// Text on an image: tags of objects, the list of the image's classes, and legends of maps, without overlap, also among
/// several results of one frame. Reuses its memory.
class Legend {
 public:
  /// Starts on an image without any text.
  void begin(const RgbView& image);
  /// "name 0.91" in the object's colour, at OBJECT; omitted if no place is free. On a track "name #12 0.91"; with a
  /// class of the second model "name 0.91: class 0.55"; with a text "text 0.98", shortened to the image's width.
  void draw_tag(const Sheet& sheet, const Detection& detection, const Rect& object);
  /// A line "name 0.91" per class, from the upper left corner down.
  void draw_classes(const Sheet& sheet, std::span<const Classification> classes);
  /// A line "name 12 %" for each of the largest, from the upper right corner down.
  void draw_segments(const Sheet& sheet, std::span<const Segment> segments, std::int64_t pixels);
  /// The colour scale of depths, with metres or words at its ends, at the lower left of RECT.
  void draw_depths(const Sheet& sheet, const DepthRange& range, DepthKind kind, const Rect& rect);
  /// "name 3 in 1 out", or "name 2 inside" for an area, at PLACE; omitted if no place is free.
  void draw_zone(const Sheet& sheet, const ZoneState& zone, const Rect& place);
  /// Keeps RECT free of text.
  void take(const Rect& rect) { places_.take(rect); }

 private:
  Coverage letters(const Sheet& sheet);
  void add_name(std::string_view class_name, int class_id);
  void describe(const Detection& detection, std::size_t most_letters);
  Coverage tag_letters(const Sheet& sheet, const Detection& detection);
  int draw_row(const Sheet& sheet, int left, int top, int width, Color color);

  TextRenderer text_;
  fmt::memory_buffer words_;
  LabelPlaces places_;
  int left_bottom_ = 0;  ///< bottom of the lists in the upper corners
  int right_bottom_ = 0;
};

}  // namespace saccade
