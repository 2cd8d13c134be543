#pragma once

#include <fmt/format.h>

#include "draw/label_places.hpp"
#include "draw/maps.hpp"
#include "draw/sheet.hpp"
#include "draw/text.hpp"

namespace saccade {

/// Text on an image: tags at objects, the list of the whole image's classes, what the colours of maps stand for.
/// None covers another one, also of another result about the same frame. Keeps its memory between images.
class Legend {
 public:
  /// Starts on an image without any text.
  void begin(const RgbView& picture);
  /// "name 0.91" in the class's colour, at OBJECT; left out where there is no free place.
  void draw_tag(const Sheet& sheet, const Detection& detection, const Rect& object);
  /// "name 0.91" a line, from the upper left corner down.
  void draw_classes(const Sheet& sheet, std::span<const Classification> classes);
  /// "name 12 %" a line, from the upper right corner down: the largest ones.
  void draw_segments(const Sheet& sheet, std::span<const Segment> segments, std::int64_t pixels);
  /// The colours of depths with the numbers (of metres) or words at their ends, at the foot of RECT, on its left.
  void draw_depths(const Sheet& sheet, const DepthRange& range, DepthKind kind, const Rect& rect);
  /// Keeps RECT free of text.
  void take(const Rect& rect) { places_.take(rect); }

 private:
  Coverage letters(const Sheet& sheet);
  void name(std::string_view class_name, int class_id);
  int draw_row(const Sheet& sheet, int left, int top, int width, Color color);

  TextRenderer text_;
  fmt::memory_buffer words_;
  LabelPlaces places_;
  int left_bottom_ = 0;  ///< of the lists in the upper corners
  int right_bottom_ = 0;
};

}  // namespace saccade
