#pragma once

#include <cstdint>

namespace saccade {

struct Color {
  std::uint8_t r = 0;
  std::uint8_t g = 0;
  std::uint8_t b = 0;
};

/// The colour of a class: neighbouring IDs differ clearly, colours repeat every 256 IDs, and all are visible on dark
/// and, with a dark rim, on light images.
Color class_color(int class_id);
/// Black or white, whichever is readable on BACKGROUND.
Color text_color(Color background);
/// matplotlib's inferno, from 0 (dark violet) to 1 (light yellow): perceptually uniform, also in greyscale.
Color inferno(float value);

}  // namespace saccade
