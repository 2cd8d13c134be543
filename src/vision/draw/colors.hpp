#pragma once

#include <cstdint>

namespace saccade {

struct Color {
  std::uint8_t r = 0;
  std::uint8_t g = 0;
  std::uint8_t b = 0;
};

/// A class's own colour: neighbouring numbers differ clearly, any number has one (256 apart the same), and all are as
/// light as shows on dark and, with a dark rim, on light images.
Color class_color(int class_id);
/// Black or white, whichever is readable on BACKGROUND.
Color text_color(Color background);
/// 0 (dark violet) to 1 (light yellow): matplotlib's inferno, equal steps of which look equal, also without colours.
Color inferno(float share);

}  // namespace saccade
