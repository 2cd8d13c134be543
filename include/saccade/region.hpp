#pragma once

namespace saccade {

/// A rectangle in pixels.
struct Region {
  int x = 0;       ///< left column
  int y = 0;       ///< top row
  int width = 0;   ///< columns
  int height = 0;  ///< rows
};

}  // namespace saccade
