#include "vision/drawer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "draw/canvas.hpp"
#include "draw/text.hpp"

namespace saccade {
namespace {

/// Sizes in pixels that suit a picture.
struct Style {
  int letters;
  int line;
  int margin;  ///< around the letters of a tag
};

Style style_for(const RgbView& picture) {
  const int side = std::min(picture.width, picture.height);
  const int letters = std::clamp(side / 42, 11, 96);
  return {letters, std::max(1, (letters + 2) / 6), std::max(2, letters / 5)};
}

/// The box in whole pixels, cut to the picture; an empty one where a number is missing (NaN).
Rect rect_of(const Detection& detection, const RgbView& picture) {
  const auto whole = [](float value, int limit) {
    return static_cast<int>(std::lround(std::clamp(value, 0.0F, static_cast<float>(limit))));
  };
  const auto& box = detection.box;
  if (std::any_of(box.begin(), box.end(), [](float value) { return std::isnan(value); })) return {};
  return {whole(box[0], picture.width), whole(box[1], picture.height), whole(box[2], picture.width),
          whole(box[3], picture.height)};
}

bool is_empty(const Rect& rect) { return rect.right <= rect.left || rect.bottom <= rect.top; }

/// Thin lines on small boxes, so that something is left to see inside.
int line_for(const Rect& rect, int line) {
  return std::clamp(std::min(rect.right - rect.left, rect.bottom - rect.top) / 6, 1, line);
}

class CairoDrawer final : public Drawer {
 public:
  void draw(const Result& result, const RgbView& picture) override {
    if (picture.width <= 0 || picture.height <= 0) return;
    const Style style = style_for(picture);
    // The surest come first in a result and are drawn last, on top of the others.
    for (auto it = result.detections.rbegin(); it != result.detections.rend(); ++it) draw_box(*it, picture, style);
    for (auto it = result.detections.rbegin(); it != result.detections.rend(); ++it) draw_tag(*it, picture, style);
    draw_classes(result, picture, style);
  }

 private:
  static void draw_box(const Detection& detection, const RgbView& picture, const Style& style) {
    const Rect rect = rect_of(detection, picture);
    if (!is_empty(rect)) outline(picture, rect, class_color(detection.class_id), line_for(rect, style.line));
  }

  /// Above the box where there is room, else inside it at the top; never past the picture's sides.
  void draw_tag(const Detection& detection, const RgbView& picture, const Style& style) {
    const Rect rect = rect_of(detection, picture);
    if (is_empty(rect)) return;
    set_label(detection.class_name, detection.class_id, detection.confidence);
    const Coverage letters = text_.render({label_.data(), label_.size()}, style.letters);
    const int width = letters.width + 2 * style.margin;
    const int height = letters.height;
    const int left = std::clamp(rect.left, 0, std::max(0, picture.width - width));
    const int top = rect.top >= height ? rect.top - height : rect.top;
    const Color color = class_color(detection.class_id);
    fill(picture, {left, top, left + width, top + height}, color);
    stamp(picture, left + style.margin, top, letters, text_color(color));
  }

  void draw_classes(const Result& result, const RgbView& picture, const Style& style) {
    constexpr int kShade = 150;
    int top = style.margin;
    for (const Classification& entry : result.classes) {
      set_label(entry.class_name, entry.class_id, entry.confidence);
      const Coverage letters = text_.render({label_.data(), label_.size()}, style.letters);
      const int stripe = style.margin;  // the class's colour before its name
      const int right = style.margin + stripe + 2 * style.margin + letters.width;
      fill(picture, {style.margin, top, right, top + letters.height}, {0, 0, 0}, kShade);
      fill(picture, {style.margin, top, style.margin + stripe, top + letters.height}, class_color(entry.class_id));
      stamp(picture, 2 * style.margin + stripe, top, letters, {255, 255, 255});
      top += letters.height;
    }
  }

  void set_label(std::string_view name, int class_id, float confidence) {
    label_.clear();
    if (name.empty()) {
      fmt::format_to(std::back_inserter(label_), "class {} {:.2f}", class_id, confidence);
    } else {
      fmt::format_to(std::back_inserter(label_), "{} {:.2f}", name, confidence);
    }
  }

  TextRenderer text_;
  fmt::memory_buffer label_;
};

constexpr DrawModule kModule = {[]() -> std::unique_ptr<Drawer> { return std::make_unique<CairoDrawer>(); }};

}  // namespace
}  // namespace saccade

extern "C" const saccade::DrawModule* saccade_module_draw() { return &saccade::kModule; }
