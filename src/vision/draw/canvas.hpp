#pragma once

#include <cstdint>

#include "draw/colors.hpp"
#include "tensor/frame.hpp"

namespace saccade {

/// The pixels [left, right) x [top, bottom).
struct Rect {
  int left = 0;
  int top = 0;
  int right = 0;
  int bottom = 0;

  int width() const { return right - left; }
  int height() const { return bottom - top; }
  bool is_empty() const { return right <= left || bottom <= top; }
};

/// Coverage of each pixel, 0 to 255.
struct Coverage {
  const std::uint8_t* data = nullptr;
  int pitch_bytes = 0;
  int width = 0;
  int height = 0;
};

/// The pixel (x, y), which must be inside IMAGE.
inline std::uint8_t* pixel_at(const RgbView& image, int x, int y) {
  return image.data + static_cast<std::ptrdiff_t>(y) * image.pitch_bytes + 3 * static_cast<std::ptrdiff_t>(x);
}

/// Blends OVER onto a pixel. OPACITY is 0 to 255, here and below.
inline void blend(std::uint8_t* under, Color over, int opacity) {
  const auto mix = [opacity](std::uint8_t below, std::uint8_t above) {
    return static_cast<std::uint8_t>((below * (255 - opacity) + above * opacity + 127) / 255);
  };
  under[0] = mix(under[0], over.r);
  under[1] = mix(under[1], over.g);
  under[2] = mix(under[2], over.b);
}

// Drawing is clipped to IMAGE.
void fill(const RgbView& image, Rect rect, Color color, int opacity = 255);
/// An outline of LINE pixels, inside RECT.
void outline(const RgbView& image, Rect rect, Color color, int line, int opacity = 255);
/// COVERAGE with its upper left corner at (left, top).
void stamp(const RgbView& image, int left, int top, const Coverage& coverage, Color color);

}  // namespace saccade
