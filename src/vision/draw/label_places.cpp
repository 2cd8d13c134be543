#include "draw/label_places.hpp"

#include <algorithm>
#include <array>

namespace saccade {

void LabelPlaces::begin(int width, int height) {
  width_ = width;
  height_ = height;
  taken_.clear();
}

bool LabelPlaces::is_free(const Rect& rect) const {
  return std::ranges::none_of(taken_, [&](const Rect& other) {
    return rect.left < other.right && other.left < rect.right && rect.top < other.bottom && other.top < rect.bottom;
  });
}

std::optional<Rect> LabelPlaces::place(const Rect& object, int width, int height) {
  struct Corner {
    int left;
    int top;
  };
  const int right = object.right - width;
  const int above = object.top - height;
  const int inside = object.bottom - height;
  const std::array<Corner, 12> corners = {{{object.left, above},
                                           {object.left, object.top},
                                           {object.left, object.bottom},
                                           {object.left, inside},
                                           {right, above},
                                           {right, object.top},
                                           {right, object.bottom},
                                           {right, inside},
                                           {object.right, object.top},
                                           {object.left - width, object.top},
                                           {object.right, inside},
                                           {object.left - width, inside}}};
  for (const auto& [left, top] : corners) {
    if (top < 0 || top + height > height_) continue;
    // Moved inside the image; a label wider than the image begins at its left.
    const int x = std::max(0, std::min(left, width_ - width));
    const Rect rect = {x, top, std::min(x + width, width_), top + height};
    if (!is_free(rect)) continue;
    take(rect);
    return rect;
  }
  return std::nullopt;
}

}  // namespace saccade
