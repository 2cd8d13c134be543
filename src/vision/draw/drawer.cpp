#include "vision/drawer.hpp"

#include "draw/legend.hpp"
#include "draw/maps.hpp"
#include "draw/silhouettes.hpp"
#include "draw/skeleton.hpp"
#include "draw/trails.hpp"
#include "draw/zones.hpp"

namespace saccade {
namespace {

/// Thin lines on small boxes, so that their contents stay visible.
int line_for(const Rect& rect, int line) { return std::clamp(std::min(rect.width(), rect.height()) / 6, 1, line); }

/// The bounds of an object's drawing: of its oriented box's corners, else its box.
Rect place_of(const Sheet& sheet, const Detection& detection) {
  if (!detection.oriented) return sheet.rect(detection.box);
  const auto corners = detection.oriented->corners();
  std::array<float, 4> around = {corners[0], corners[1], corners[0], corners[1]};
  for (std::size_t i = 0; i < corners.size(); i += 2) {
    around[0] = std::min(around[0], corners[i]);
    around[1] = std::min(around[1], corners[i + 1]);
    around[2] = std::max(around[2], corners[i]);
    around[3] = std::max(around[3], corners[i + 1]);
  }
  return sheet.rect(around);
}

bool holds_more_than_depth(const Result& result) {
  return !result.detections.empty() || !result.class_map.cells.empty() || !result.classes.empty() ||
         !result.text.empty();
}

class CairoDrawer final : public Drawer {
 public:
  void draw(const Result& result, const RgbView& image) override {
    if (image.width <= 0 || image.height <= 0) return;
    const Sheet sheet(image, result);
    begin(result, image);
    const bool has_depth = !result.depth.cells.empty();
    const bool is_all = !holds_more_than_depth(result) && result.model_index == 0;
    if (has_depth && is_all) draw_depth(sheet, result, {0, 0, image.width, image.height});
    if (!result.class_map.cells.empty()) maps_.draw(sheet, result.class_map, result);
    zones_.draw(sheet, result.zones, ink_);
    trails_.draw(sheet, result, ink_);
    // The most confident come first in a result and are drawn last, on top of the others.
    for (auto it = result.detections.rbegin(); it != result.detections.rend(); ++it) draw_object(sheet, *it);
    if (has_depth && !is_all) {
      const Rect rect = inset(sheet);
      draw_depth(sheet, result, rect);
      outline(image, rect, {255, 255, 255}, sheet.line);
      legend_.take(rect);
    }
    legend_.draw_classes(sheet, result.classes);
    const Classification line{.class_name = result.text, .confidence = result.text_confidence};
    if (!result.text.empty()) legend_.draw_classes(sheet, {&line, 1});
    if (!result.class_map.cells.empty())
      legend_.draw_segments(sheet, result.segments, std::int64_t{result.width} * result.height);
    for (const ZoneState& zone : result.zones) legend_.draw_zone(sheet, zone, label_place_of(sheet, zone));
    for (const Detection& detection : result.detections) {
      const Rect place = place_of(sheet, detection);
      if (!place.is_empty()) legend_.draw_tag(sheet, detection, place);
    }
  }

 private:
  /// Results arrive in model order: a model that does not follow the last one belongs to another image.
  void begin(const Result& result, const RgbView& image) {
    const bool goes_on = result.stream == stream_ && result.frame == frame_ && result.model_index > model_;
    stream_ = result.stream;
    frame_ = result.frame;
    model_ = result.model_index;
    ink_.begin(image.width, image.height);
    if (!goes_on) legend_.begin(image);
  }

  void draw_depth(const Sheet& sheet, const Result& result, const Rect& rect) {
    const DepthRange range = maps_.draw(sheet, result.depth, result, rect);
    legend_.draw_depths(sheet, range, result.depth.kind, rect);
  }

  /// A map beside other predictions is in the lower right corner, so that both are visible.
  static Rect inset(const Sheet& sheet) {
    constexpr int kPart = 4;
    const int right = sheet.image.width - 2 * sheet.margin;
    const int bottom = sheet.image.height - 2 * sheet.margin;
    return {std::max(0, right - sheet.image.width / kPart), std::max(0, bottom - sheet.image.height / kPart),
            std::max(1, right), std::max(1, bottom)};
  }

  void draw_object(const Sheet& sheet, const Detection& detection) {
    const Rect place = place_of(sheet, detection);
    const Color color = object_color(detection);
    if (detection.mask) {
      draw_silhouette(sheet, *detection.mask, color);
      draw_border(sheet, *detection.mask, color, tracer_, ink_);
    }
    if (detection.oriented)
      draw_oriented(sheet, *detection.oriented, color, ink_);
    else if (!place.is_empty())
      draw_box(sheet, place, color, detection.mask.has_value());
    if (!detection.keypoints.empty()) draw_keypoints(sheet, detection.keypoints, place, ink_);
  }

  static void draw_box(const Sheet& sheet, const Rect& rect, Color color, bool is_thin) {
    const int line = is_thin ? 1 : line_for(rect, sheet.line);
    outline(sheet.image, {rect.left - 1, rect.top - 1, rect.right + 1, rect.bottom + 1}, kRim, 1, kRimOpacity);
    outline(sheet.image, {rect.left + line, rect.top + line, rect.right - line, rect.bottom - line}, kRim, 1,
            kRimOpacity);
    outline(sheet.image, rect, color, line);
  }

  Ink ink_;
  Legend legend_;
  MapPainter maps_;
  Trails trails_;
  ZonePainter zones_;
  ContourTracer tracer_;
  int stream_ = -1;
  std::int64_t frame_ = -1;
  int model_ = -1;
};

constexpr DrawModule kModule = {[]() -> std::unique_ptr<Drawer> { return std::make_unique<CairoDrawer>(); }};

}  // namespace
}  // namespace saccade

extern "C" const saccade::DrawModule* saccade_module_draw() {
  // Loads the fonts now: fontconfig crashes where memory runs out while it does so.
  saccade::TextRenderer().render("0", 12);
  return &saccade::kModule;
}
