#pragma once

#include <memory>

#include "saccade/results.hpp"
#include "tensor/frame.hpp"

namespace saccade {

/// Draws results onto pictures. Keeps its scratch memory between frames; used by one thread at a time.
class Drawer {
 public:
  virtual ~Drawer() = default;
  /// Boxes in their class's colour with "name 0.91" on a tag, and classes as a list in the upper left corner. Lines and
  /// letters grow with the picture. Boxes are in PICTURE's pixels; what lies outside is cut off.
  virtual void draw(const Result& result, const RgbView& picture) = 0;
};

/// What the draw module (cairo) offers; get it with module<DrawModule>("draw").
struct DrawModule {
  std::unique_ptr<Drawer> (*make_drawer)();
};

}  // namespace saccade
