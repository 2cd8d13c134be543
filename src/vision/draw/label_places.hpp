#pragma once

#include <optional>
#include <vector>

#include "draw/canvas.hpp"

namespace saccade {

/// Places labels at their objects without overlap. Reuses its memory.
class LabelPlaces {
 public:
  void begin(int width, int height);
  /// Keeps RECT free of labels.
  void take(const Rect& rect) { taken_.push_back(rect); }
  /// Takes a free place of WIDTH x HEIGHT at OBJECT: above it, inside at its top, below it, inside at its bottom, each
  /// at the left, then at the right; else beside it. nullopt: none is free.
  std::optional<Rect> place(const Rect& object, int width, int height);

 private:
  bool is_free(const Rect& rect) const;

  int width_ = 0;
  int height_ = 0;
  std::vector<Rect> taken_;
};

}  // namespace saccade
