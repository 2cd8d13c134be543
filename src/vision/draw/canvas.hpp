#pragma once

#include <cstdint>

#include "tensor/frame.hpp"

namespace saccade {

struct Color {
  std::uint8_t r = 0;
  std::uint8_t g = 0;
  std::uint8_t b = 0;
};

/// A class's own colour: neighbouring numbers differ clearly, any number has one.
Color class_color(int class_id);
/// Black or white, whichever is readable on BACKGROUND.
Color text_color(Color background);

/// Pixels from (left, top) up to, but not with, (right, bottom).
struct Rect {
  int left = 0;
  int top = 0;
  int right = 0;
  int bottom = 0;
};

/// Coverage of each pixel, 0 to 255.
struct Coverage {
  const std::uint8_t* data = nullptr;
  int pitch_bytes = 0;
  int width = 0;
  int height = 0;
};

/// Each draws what lies within PICTURE. OPACITY is 0 to 255.
void fill(const RgbView& picture, Rect rect, Color color, int opacity = 255);
/// A frame of LINE pixels, inside RECT.
void outline(const RgbView& picture, Rect rect, Color color, int line);
/// MASK with its upper left corner at (left, top).
void stamp(const RgbView& picture, int left, int top, const Coverage& mask, Color color);

}  // namespace saccade
