#include "draw/canvas.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace saccade {
namespace {

std::uint8_t blend(std::uint8_t under, std::uint8_t over, int opacity) {
  return static_cast<std::uint8_t>((under * (255 - opacity) + over * opacity + 127) / 255);
}

std::uint8_t* pixel(const RgbView& picture, int x, int y) {
  return picture.data + static_cast<std::ptrdiff_t>(y) * picture.pitch_bytes + 3 * static_cast<std::ptrdiff_t>(x);
}

void blend_pixel(std::uint8_t* under, Color over, int opacity) {
  under[0] = blend(under[0], over.r, opacity);
  under[1] = blend(under[1], over.g, opacity);
  under[2] = blend(under[2], over.b, opacity);
}

/// One channel of a colour of full saturation; HUE in sixths of the circle.
double channel(double hue, double shift) {
  const double at = std::fmod(hue + shift, 6.0);
  return std::clamp(std::abs(at - 3.0) - 1.0, 0.0, 1.0);
}

}  // namespace

Color class_color(int class_id) {
  // Steps of the golden ratio spread any number of hues; three shades part the classes that come near each other.
  constexpr double kGoldenRatio = 0.618033988749895;
  constexpr std::array<double, 3> kWhiteness = {0.0, 0.35, 0.15};
  constexpr std::array<double, 3> kBrightness = {255, 255, 190};
  const auto number = static_cast<unsigned>(class_id);
  const double turns = std::fmod(0.02 + number * kGoldenRatio, 1.0);
  const double white = kWhiteness[number % 3];
  const double bright = kBrightness[number % 3];
  const auto value = [&](double shift) {
    return static_cast<std::uint8_t>(std::lround(bright * (white + (1 - white) * channel(6 * turns, shift))));
  };
  return {value(0), value(4), value(2)};
}

Color text_color(Color background) {
  const int luma = (299 * background.r + 587 * background.g + 114 * background.b) / 1000;
  return luma > 140 ? Color{0, 0, 0} : Color{255, 255, 255};
}

void fill(const RgbView& picture, Rect rect, Color color, int opacity) {
  const int right = std::min(rect.right, picture.width);
  const int bottom = std::min(rect.bottom, picture.height);
  for (int y = std::max(rect.top, 0); y < bottom; ++y)
    for (int x = std::max(rect.left, 0); x < right; ++x) blend_pixel(pixel(picture, x, y), color, opacity);
}

void outline(const RgbView& picture, Rect rect, Color color, int line) {
  const int inner_top = std::min(rect.top + line, rect.bottom);
  const int inner_bottom = std::max(rect.bottom - line, inner_top);
  fill(picture, {rect.left, rect.top, rect.right, inner_top}, color);
  fill(picture, {rect.left, inner_bottom, rect.right, rect.bottom}, color);
  fill(picture, {rect.left, inner_top, std::min(rect.left + line, rect.right), inner_bottom}, color);
  fill(picture, {std::max(rect.right - line, rect.left), inner_top, rect.right, inner_bottom}, color);
}

void stamp(const RgbView& picture, int left, int top, const Coverage& mask, Color color) {
  const int right = std::min(mask.width, picture.width - left);
  const int bottom = std::min(mask.height, picture.height - top);
  for (int y = std::max(0, -top); y < bottom; ++y) {
    const std::uint8_t* coverage = mask.data + static_cast<std::ptrdiff_t>(y) * mask.pitch_bytes;
    for (int x = std::max(0, -left); x < right; ++x)
      if (coverage[x] != 0) blend_pixel(pixel(picture, left + x, top + y), color, coverage[x]);
  }
}

}  // namespace saccade
