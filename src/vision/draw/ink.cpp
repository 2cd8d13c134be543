#include "draw/ink.hpp"

#include <algorithm>
#include <cmath>

namespace saccade {
namespace {

/// Clips the part FIRST..LAST of a line, 0 to 1, to (LOW, HIGH) along one axis. False: nothing remains.
bool clip(double from, double to, double low, double high, double& first, double& last) {
  const double step = to - from;
  if (step == 0) return from >= low && from <= high;
  const double a = (low - from) / step;
  const double b = (high - from) / step;
  first = std::max(first, std::min(a, b));
  last = std::min(last, std::max(a, b));
  return first <= last;
}

/// False for NaN too. Beyond it, rounding would lose the part inside an image.
bool is_near(Point point) {
  constexpr float kFar = 1e6F;
  return std::abs(point.x) <= kFar && std::abs(point.y) <= kFar;
}

}  // namespace

void Ink::begin(int width, int height) {
  if (top_ < bottom_) std::ranges::fill(coverage_, std::uint8_t{0});  // it was not printed
  width_ = width;
  height_ = height;
  const auto pixels = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  if (coverage_.size() < pixels) coverage_.resize(pixels);
  spans_.assign(static_cast<std::size_t>(height), {});
  top_ = height;
  bottom_ = 0;
}

/// The coverage of a row, of which the pixels FIRST to LAST will be written.
std::uint8_t* Ink::open_row(int y, int first, int last) {
  Span& span = spans_[static_cast<std::size_t>(y)];
  span = span.last == 0 ? Span{first, last} : Span{std::min(span.first, first), std::max(span.last, last)};
  top_ = std::min(top_, y);
  bottom_ = std::max(bottom_, y + 1);
  return coverage_.data() + static_cast<std::ptrdiff_t>(y) * width_;
}

void Ink::line(Point from, Point to, float width) {
  if (!is_near(from) || !is_near(to)) return;
  const double radius = 0.5 * width;
  const double reach = radius + 1;  // with half a pixel of antialiasing
  double first = 0;
  double last = 1;
  if (!clip(from.x, to.x, -reach, width_ + reach, first, last) ||
      !clip(from.y, to.y, -reach, height_ + reach, first, last))
    return;
  const double across = static_cast<double>(to.x) - from.x;
  const double down = static_cast<double>(to.y) - from.y;
  const double x1 = from.x + first * across;
  const double y1 = from.y + first * down;
  const double dx = (last - first) * across;
  const double dy = (last - first) * down;
  const double length2 = dx * dx + dy * dy;
  const int end = std::min(height_, static_cast<int>(std::ceil(std::max(y1, y1 + dy) + reach)));
  for (int y = std::max(0, static_cast<int>(std::floor(std::min(y1, y1 + dy) - reach))); y < end; ++y) {
    double near = 0;
    double far = 1;
    if (!clip(y1, y1 + dy, y + 0.5 - reach, y + 0.5 + reach, near, far)) continue;
    const double left = x1 + std::min(near * dx, far * dx) - reach;
    const double right = x1 + std::max(near * dx, far * dx) + reach;
    const int x_first = std::max(0, static_cast<int>(std::floor(left)));
    const int x_last = std::min(width_, static_cast<int>(std::ceil(right)));
    if (x_first >= x_last) continue;
    std::uint8_t* row = open_row(y, x_first, x_last);
    for (int x = x_first; x < x_last; ++x) {
      const double px = x + 0.5 - x1;
      const double py = y + 0.5 - y1;
      const double along = length2 > 0 ? std::clamp((px * dx + py * dy) / length2, 0.0, 1.0) : 0.0;
      const double distance = std::sqrt((px - along * dx) * (px - along * dx) + (py - along * dy) * (py - along * dy));
      const double cover = std::clamp(radius + 0.5 - distance, 0.0, 1.0);
      row[x] = std::max(row[x], static_cast<std::uint8_t>(std::lround(255 * cover)));
    }
  }
}

void Ink::dot(Point centre, float radius) { line(centre, centre, 2 * radius); }

void Ink::print(const RgbView& image, Color color, int opacity) {
  for (int y = top_; y < bottom_; ++y) {
    Span& span = spans_[static_cast<std::size_t>(y)];
    std::uint8_t* row = coverage_.data() + static_cast<std::ptrdiff_t>(y) * width_;
    for (int x = span.first; x < span.last; ++x)
      if (row[x] != 0) blend(pixel_at(image, x, y), color, row[x] * opacity / 255);
    std::fill(row + span.first, row + span.last, std::uint8_t{0});
    span = {};
  }
  top_ = height_;
  bottom_ = 0;
}

}  // namespace saccade
