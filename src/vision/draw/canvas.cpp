#include "draw/canvas.hpp"

#include <algorithm>
#include <cstddef>

namespace saccade {

void fill(const RgbView& picture, Rect rect, Color color, int opacity) {
  const int left = std::max(rect.left, 0);
  const int right = std::min(rect.right, picture.width);
  const int bottom = std::min(rect.bottom, picture.height);
  for (int y = std::max(rect.top, 0); y < bottom; ++y) {
    std::uint8_t* pixel = pixel_at(picture, left, y);
    for (int x = left; x < right; ++x, pixel += 3) blend(pixel, color, opacity);
  }
}

void outline(const RgbView& picture, Rect rect, Color color, int line, int opacity) {
  const int inner_top = std::min(rect.top + line, rect.bottom);
  const int inner_bottom = std::max(rect.bottom - line, inner_top);
  fill(picture, {rect.left, rect.top, rect.right, inner_top}, color, opacity);
  fill(picture, {rect.left, inner_bottom, rect.right, rect.bottom}, color, opacity);
  fill(picture, {rect.left, inner_top, std::min(rect.left + line, rect.right), inner_bottom}, color, opacity);
  fill(picture, {std::max(rect.right - line, rect.left + line), inner_top, rect.right, inner_bottom}, color, opacity);
}

void stamp(const RgbView& picture, int left, int top, const Coverage& coverage, Color color) {
  const int right = std::min(coverage.width, picture.width - left);
  const int bottom = std::min(coverage.height, picture.height - top);
  for (int y = std::max(0, -top); y < bottom; ++y) {
    const std::uint8_t* share = coverage.data + static_cast<std::ptrdiff_t>(y) * coverage.pitch_bytes;
    for (int x = std::max(0, -left); x < right; ++x)
      if (share[x] != 0) blend(pixel_at(picture, left + x, top + y), color, share[x]);
  }
}

}  // namespace saccade
