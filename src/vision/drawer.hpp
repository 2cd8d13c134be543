#pragma once

#include <memory>

#include "saccade/results.hpp"
#include "tensor/frame.hpp"

namespace saccade {

/// Draws results of one stream onto images. Keeps its scratch memory between frames; used by one thread at a time.
class Drawer {
 public:
  virtual ~Drawer() = default;
  /// Draws all predictions of RESULT: axis-aligned and oriented boxes in the colour of their class with a tag "name
  /// 0.91" that overlaps no other tag, and has the object's text or its class by the second model; objects on a track
  /// in the colour of its ID with a tag "name #12 0.91", and the path of their last two seconds; translucent masks and
  /// class maps; skeletons and landmarks; classes as a list in the upper left corner; depth in colours, over the whole
  /// image if there is nothing else, otherwise in a corner; zones under the objects, with their counts. Lines and
  /// letters scale with the image. IMAGE shows the whole frame of the result, in any size; drawing is clipped to it.
  /// Results of one frame are passed in order of model_index.
  virtual void draw(const Result& result, const RgbView& image) = 0;
};

/// The interface of the draw module (cairo), loaded by module<DrawModule>("draw").
struct DrawModule {
  std::unique_ptr<Drawer> (*make_drawer)();
};

}  // namespace saccade
