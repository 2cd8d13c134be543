#pragma once

#include <memory>

#include "saccade/results.hpp"
#include "tensor/frame.hpp"

namespace saccade {

/// Draws results onto images. Keeps its scratch memory between frames; used by one thread at a time.
class Drawer {
 public:
  virtual ~Drawer() = default;
  /// Draws all that RESULT holds: boxes, upright or turned, in their class's colour with "name 0.91" on a tag that
  /// covers no other tag; masks and class maps, through which the image shows; skeletons and landmarks; classes as a
  /// list in the upper left corner; depth in colours, over all of an image that has nothing else, else in a corner.
  /// Lines and letters grow with the image. PICTURE shows the whole frame that the result is about, in any size; what
  /// lies outside is cut off. Results about one frame come one after the other, by model_index.
  virtual void draw(const Result& result, const RgbView& picture) = 0;
};

/// What the draw module (cairo) offers; get it with module<DrawModule>("draw").
struct DrawModule {
  std::unique_ptr<Drawer> (*make_drawer)();
};

}  // namespace saccade
