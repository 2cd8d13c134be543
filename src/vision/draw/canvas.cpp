#include "draw/canvas.hpp"

#include <algorithm>
#include <cstddef>

namespace saccade {

void fill(const RgbView& image, Rect rect, Color color, int opacity) {
  const int left = std::max(rect.left, 0);
  const int right = std::min(rect.right, image.width);
  const int bottom = std::min(rect.bottom, image.height);
  for (int y = std::max(rect.top, 0); y < bottom; ++y) {
    std::uint8_t* pixel = pixel_at(image, left, y);
    for (int x = left; x < right; ++x, pixel += 3) blend(pixel, color, opacity);
  }
}

void outline(const RgbView& image, Rect rect, Color color, int line, int opacity) {
  const int inner_top = std::min(rect.top + line, rect.bottom);
  const int inner_bottom = std::max(rect.bottom - line, inner_top);
  fill(image, {rect.left, rect.top, rect.right, inner_top}, color, opacity);
  fill(image, {rect.left, inner_bottom, rect.right, rect.bottom}, color, opacity);
  fill(image, {rect.left, inner_top, std::min(rect.left + line, rect.right), inner_bottom}, color, opacity);
  fill(image, {std::max(rect.right - line, rect.left + line), inner_top, rect.right, inner_bottom}, color, opacity);
}

void stamp(const RgbView& image, int left, int top, const Coverage& coverage, Color color) {
  const int right = std::min(coverage.width, image.width - left);
  const int bottom = std::min(coverage.height, image.height - top);
  for (int y = std::max(0, -top); y < bottom; ++y) {
    const std::uint8_t* alpha = coverage.data + static_cast<std::ptrdiff_t>(y) * coverage.pitch_bytes;
    for (int x = std::max(0, -left); x < right; ++x)
      if (alpha[x] != 0) blend(pixel_at(image, left + x, top + y), color, alpha[x]);
  }
}

}  // namespace saccade
