#pragma once

#include <optional>
#include <vector>

#include "draw/canvas.hpp"

namespace saccade {

/// Finds places for labels at their objects, so that none covers another one. Keeps its memory between images.
class LabelPlaces {
 public:
  void begin(int width, int height);
  /// Keeps RECT free of labels.
  void take(const Rect& rect) { taken_.push_back(rect); }
  /// A free place of WIDTH x HEIGHT at OBJECT, which is then taken: above it, inside at its top, below, inside at its
  /// foot, each at its left, then at its right, else beside it. Nothing where none is free.
  std::optional<Rect> place(const Rect& object, int width, int height);

 private:
  bool is_free(const Rect& rect) const;

  int width_ = 0;
  int height_ = 0;
  std::vector<Rect> taken_;
};

}  // namespace saccade
