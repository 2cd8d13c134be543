#include "draw/legend.hpp"

#include <algorithm>
#include <iterator>

namespace saccade {
namespace {

constexpr Color kShade = {0, 0, 0};  // background of letters without a tag
constexpr int kShadeOpacity = 160;
constexpr Color kLetters = {255, 255, 255};
constexpr std::size_t kMaxSegments = 10;

template <typename... Args>
void put(fmt::memory_buffer& out, fmt::format_string<Args...> format, Args&&... args) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
}

}  // namespace

void Legend::begin(const RgbView& image) {
  places_.begin(image.width, image.height);
  left_bottom_ = 0;
  right_bottom_ = 0;
}

Coverage Legend::letters(const Sheet& sheet) { return text_.render({words_.data(), words_.size()}, sheet.letters); }

void Legend::name(std::string_view class_name, int class_id) {
  words_.clear();
  if (class_name.empty())
    put(words_, "class {}", class_id);
  else
    words_.append(class_name);
}

void Legend::draw_tag(const Sheet& sheet, const Detection& detection, const Rect& object) {
  name(detection.class_name, detection.class_id);
  put(words_, " {:.2f}", detection.confidence);
  const Coverage text = letters(sheet);
  const auto place = places_.place(object, text.width + 2 * sheet.margin, text.height);
  if (!place) return;
  const Color color = class_color(detection.class_id);
  fill(sheet.image, *place, color);
  stamp(sheet.image, place->left + sheet.margin, place->top, text, text_color(color));
}

/// The words on a shade, after a stripe of COLOR; returns the row's lower end.
int Legend::draw_row(const Sheet& sheet, int left, int top, int width, Color color) {
  const Coverage text = letters(sheet);
  const Rect row = {left, top, left + width, top + text.height};
  fill(sheet.image, row, kShade, kShadeOpacity);
  fill(sheet.image, {left, top, left + 2 * sheet.margin, row.bottom}, color);
  stamp(sheet.image, left + 3 * sheet.margin, top, text, kLetters);
  places_.take(row);
  return row.bottom;
}

void Legend::draw_classes(const Sheet& sheet, std::span<const Classification> classes) {
  int top = std::max(left_bottom_, sheet.margin);
  for (const Classification& entry : classes) {
    name(entry.class_name, entry.class_id);
    put(words_, " {:.2f}", entry.confidence);
    top = draw_row(sheet, sheet.margin, top, letters(sheet).width + 4 * sheet.margin, class_color(entry.class_id));
  }
  left_bottom_ = top;
}

void Legend::draw_segments(const Sheet& sheet, std::span<const Segment> segments, std::int64_t pixels) {
  const auto shown = segments.first(std::min(segments.size(), kMaxSegments));
  const auto words = [&](const Segment& segment) {
    name(segment.class_name, segment.class_id);
    const double percent = 100 * static_cast<double>(segment.pixels) / static_cast<double>(pixels);
    if (percent < 1)
      put(words_, " <1 %");
    else
      put(words_, " {:.0f} %", percent);
  };
  int width = 0;  // of the widest row
  for (const Segment& segment : shown) {
    words(segment);
    width = std::max(width, letters(sheet).width + 4 * sheet.margin);
  }
  int top = std::max(right_bottom_, sheet.margin);
  const int left = std::max(0, sheet.image.width - sheet.margin - width);
  for (const Segment& segment : shown) {
    words(segment);
    top = draw_row(sheet, left, top, width, class_color(segment.class_id));
  }
  right_bottom_ = top;
}

void Legend::draw_depths(const Sheet& sheet, const DepthRange& range, DepthKind kind, const Rect& rect) {
  const auto words = [&](float depth, std::string_view otherwise) {
    words_.clear();
    if (kind == DepthKind::kMetric)
      put(words_, "{:.3g} m", depth);
    else
      words_.append(otherwise);
  };
  const int gap = 2 * sheet.margin;
  words(range.nearest, "near");
  const int near_width = letters(sheet).width;
  words(range.farthest, "far");
  Coverage text = letters(sheet);
  const int words_width = near_width + text.width + 4 * gap;
  const int bar = std::clamp(rect.width() - 2 * sheet.margin - words_width, 2, 8 * sheet.letters);
  const int left = rect.left + sheet.margin;
  const int bottom = rect.bottom - sheet.margin;
  const int top = bottom - text.height;
  const Rect whole = {left, top, left + words_width + bar, bottom};
  fill(sheet.image, whole, kShade, kShadeOpacity);
  stamp(sheet.image, left + gap, top, text, kLetters);
  const int start = left + text.width + 2 * gap;
  for (int i = 0; i < bar; ++i)
    fill(sheet.image, {start + i, top + sheet.margin, start + i + 1, bottom - sheet.margin},
         inferno(static_cast<float>(i) / static_cast<float>(bar - 1)));
  words(range.nearest, "near");
  text = letters(sheet);
  stamp(sheet.image, start + bar + gap, top, text, kLetters);
  places_.take(whole);
}

}  // namespace saccade
