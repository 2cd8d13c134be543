#include "draw/legend.hpp"

#include <algorithm>
#include <iterator>

#include "base/utf8.hpp"
#include "draw/zones.hpp"

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

/// The first COUNT characters of TEXT.
std::string_view first_characters(std::string_view text, std::size_t count) {
  std::size_t bytes = 0;
  for (; count > 0 && bytes < text.size(); --count) bytes += std::max<std::size_t>(utf8_length(text.substr(bytes)), 1);
  return text.substr(0, bytes);
}

}  // namespace

void Legend::begin(const RgbView& image) {
  places_.begin(image.width, image.height);
  left_bottom_ = 0;
  right_bottom_ = 0;
}

Coverage Legend::letters(const Sheet& sheet) { return text_.render({words_.data(), words_.size()}, sheet.letters); }

void Legend::add_name(std::string_view class_name, int class_id) {
  if (class_name.empty())
    put(words_, "class {}", class_id);
  else
    words_.append(class_name);
}

/// The words of an object's tag. A longer text than MOST_LETTERS characters is shortened.
void Legend::describe(const Detection& detection, std::size_t most_letters) {
  words_.clear();
  if (!detection.text.empty()) {
    const std::string_view start = first_characters(detection.text, most_letters);
    words_.append(start);
    put(words_, "{} {:.2f}", start.size() < detection.text.size() ? "..." : "", detection.text_confidence);
    return;
  }
  add_name(detection.class_name, detection.class_id);
  if (detection.track_id > 0) put(words_, " #{}", detection.track_id);
  put(words_, " {:.2f}", detection.confidence);
  if (detection.classes.empty()) return;
  const Classification& second = detection.classes.front();
  put(words_, ": ");
  add_name(second.class_name, second.class_id);
  put(words_, " {:.2f}", second.confidence);
}

/// The letters of DETECTION's tag. A text is shortened to the width of the image.
Coverage Legend::tag_letters(const Sheet& sheet, const Detection& detection) {
  const int room = std::max(sheet.image.width - 2 * sheet.margin, 1);
  for (std::size_t most = utf8_count(detection.text);;) {
    describe(detection, most);
    const Coverage text = letters(sheet);
    if (text.width <= room || most == 0) return text;
    // As if all characters were as wide as the mean.
    most = std::min(most - 1, most * static_cast<std::size_t>(room) / static_cast<std::size_t>(text.width));
  }
}

void Legend::draw_tag(const Sheet& sheet, const Detection& detection, const Rect& object) {
  const Coverage text = tag_letters(sheet, detection);
  const auto place = places_.place(object, text.width + 2 * sheet.margin, text.height);
  if (!place) return;
  const Color color = object_color(detection);
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
    words_.clear();
    add_name(entry.class_name, entry.class_id);
    put(words_, " {:.2f}", entry.confidence);
    top = draw_row(sheet, sheet.margin, top, letters(sheet).width + 4 * sheet.margin, class_color(entry.class_id));
  }
  left_bottom_ = top;
}

void Legend::draw_segments(const Sheet& sheet, std::span<const Segment> segments, std::int64_t pixels) {
  const auto shown = segments.first(std::min(segments.size(), kMaxSegments));
  const auto words = [&](const Segment& segment) {
    words_.clear();
    add_name(segment.class_name, segment.class_id);
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

void Legend::draw_zone(const Sheet& sheet, const ZoneState& zone, const Rect& place) {
  words_.clear();
  words_.append(zone.name);
  if (zone.kind == ZoneKind::kLine)
    put(words_, " {} in {} out", zone.in, zone.out);
  else
    put(words_, " {} inside", zone.inside);
  const int width = letters(sheet).width + 4 * sheet.margin;
  const auto row = places_.place(place, width, letters(sheet).height);
  if (row) draw_row(sheet, row->left, row->top, width, zone_color(zone.kind));
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
  const int width = words_width + bar;
  // In a small map it begins to the left of it.
  const int left = std::max(0, std::min(rect.left, rect.right - 2 * sheet.margin - width) + sheet.margin);
  const int bottom = rect.bottom - sheet.margin;
  const int top = bottom - text.height;
  const Rect whole = {left, top, left + width, bottom};
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
