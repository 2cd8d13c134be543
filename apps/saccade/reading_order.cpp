#include "reading_order.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace saccade::app {
namespace {

/// A text and its place in the coordinates of the page, whose x axis is along the rows.
struct PlacedText {
  std::string_view text;
  double x = 0;       ///< centre
  double y = 0;       ///< centre
  double height = 0;  ///< along y
};

OrientedBox text_box_of(const Detection& object) {
  if (object.oriented) return *object.oriented;
  const auto& [x1, y1, x2, y2] = object.box;
  return {(x1 + x2) / 2, (y1 + y2) / 2, x2 - x1, y2 - y1, 0};
}

/// The median angle of the texts in radians; those that run down the page do not count.
double page_angle(const Result& result) {
  std::vector<double> angles;
  for (const Detection& object : result.detections) {
    const double angle = text_box_of(object).angle;
    if (!object.text.empty() && std::abs(angle) <= std::numbers::pi / 4) angles.push_back(angle);
  }
  if (angles.empty()) return 0;
  const auto middle = angles.begin() + static_cast<std::ptrdiff_t>(angles.size() / 2);
  std::ranges::nth_element(angles, middle);
  return *middle;
}

PlacedText place_text(const Detection& object, double angle) {
  const OrientedBox box = text_box_of(object);
  const double across = std::cos(angle);
  const double down = std::sin(angle);
  const double turn = box.angle - angle;
  const double x = box.x * across + box.y * down;
  const double y = box.y * across - box.x * down;
  const double height = std::abs(box.width * std::sin(turn)) + std::abs(box.height * std::cos(turn));
  // A NaN has no order.
  return std::isfinite(x + y) ? PlacedText{object.text, x, y, height} : PlacedText{object.text};
}

/// Whether the centre of OTHER is in the row that FIRST begins.
bool is_in_row(const PlacedText& first, const PlacedText& other) {
  return std::abs(other.y - first.y) <= std::min(first.height, other.height) / 2;
}

}  // namespace

std::vector<std::string_view> texts_in_reading_order(const Result& result) {
  const double angle = page_angle(result);
  std::vector<PlacedText> texts;
  for (const Detection& object : result.detections)
    if (!object.text.empty()) texts.push_back(place_text(object, angle));
  std::ranges::stable_sort(texts, {}, &PlacedText::y);
  std::vector<std::string_view> ordered;
  for (auto row = texts.begin(); row != texts.end();) {
    const auto end =
        std::find_if_not(row + 1, texts.end(), [&](const PlacedText& text) { return is_in_row(*row, text); });
    std::stable_sort(row, end, [](const PlacedText& a, const PlacedText& b) { return a.x < b.x; });
    for (; row != end; ++row) ordered.push_back(row->text);
  }
  return ordered;
}

}  // namespace saccade::app
