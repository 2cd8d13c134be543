#pragma once

namespace saccade {

/// A rectangle in pixels.
struct Region {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;
};

}  // namespace saccade
