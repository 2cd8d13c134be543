#include "draw/colors.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace saccade {
namespace {

using Palette = std::array<Color, 256>;

std::uint8_t to_byte(double value) { return static_cast<std::uint8_t>(std::lround(255 * std::clamp(value, 0.0, 1.0))); }

double companded(double linear) {
  const double value = std::clamp(linear, 0.0, 1.0);
  return value <= 0.0031308 ? 12.92 * value : 1.055 * std::pow(value, 1 / 2.4) - 0.055;
}

/// Oklch to sRGB: B. Ottosson, "A perceptual color space for image processing", 2020. HUE in radians.
Color from_oklch(double lightness, double chroma, double hue) {
  const double a = chroma * std::cos(hue);
  const double b = chroma * std::sin(hue);
  const auto cube = [](double value) { return value * value * value; };
  const double l = cube(lightness + 0.3963377774 * a + 0.2158037573 * b);
  const double m = cube(lightness - 0.1055613458 * a - 0.0638541728 * b);
  const double s = cube(lightness - 0.0894841775 * a - 1.2914855480 * b);
  return {to_byte(companded(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s)),
          to_byte(companded(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s)),
          to_byte(companded(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s))};
}

/// Steps of the golden ratio spread any number of hues; three shades separate similar ones.
Palette class_palette() {
  constexpr double kFirstHue = 0.08;  // turns: the first class is red
  constexpr std::array<double, 3> kLightness = {0.69, 0.80, 0.66};
  constexpr std::array<double, 3> kChroma = {0.20, 0.15, 0.21};
  constexpr double kYellow = 1.8;  // radians: only when light is it yellow, and not olive
  Palette palette;
  for (std::size_t i = 0; i < palette.size(); ++i) {
    const double turns = kFirstHue + static_cast<double>(i) * (std::numbers::phi - 1);
    const double hue = 2 * std::numbers::pi * turns;
    const double light = kLightness[i % 3] + 0.13 * std::max(0.0, std::cos(hue - kYellow));
    palette[i] = from_oklch(light, kChroma[i % 3], hue);
  }
  return palette;
}

/// Its polynomial by M. Zucker ("Matplotlib colormaps", shadertoy.com/view/WlfXRN, CC0), within 9 of 255 of the table.
Palette inferno_palette() {
  constexpr std::array<std::array<double, 3>, 7> kTerms = {{
      {0.0002189403691192265, 0.001651004631001012, -0.01948089843709184},
      {0.1065134194856116, 0.5639564367884091, 3.932712388889277},
      {11.60249308247187, -3.972853965665698, -15.9423941062914},
      {-41.70399613139459, 17.43639888205313, 44.35414519872813},
      {77.162935699427, -33.40235894210092, -81.80730925738993},
      {-71.31942824499214, 32.62606426397723, 73.20951985803202},
      {25.13112622477341, -12.24266895238567, -23.07032500287172},
  }};
  Palette palette;
  for (std::size_t i = 0; i < palette.size(); ++i) {
    const double at = static_cast<double>(i) / static_cast<double>(palette.size() - 1);
    std::array<double, 3> sum{};
    for (auto term = kTerms.rbegin(); term != kTerms.rend(); ++term)
      for (std::size_t c = 0; c < sum.size(); ++c) sum[c] = sum[c] * at + (*term)[c];
    palette[i] = {to_byte(sum[0]), to_byte(sum[1]), to_byte(sum[2])};
  }
  return palette;
}

}  // namespace

Color class_color(int class_id) {
  static const Palette kPalette = class_palette();
  return kPalette[static_cast<unsigned>(class_id) % kPalette.size()];
}

Color text_color(Color background) {
  const int luma = (299 * background.r + 587 * background.g + 114 * background.b) / 1000;
  return luma > 115 ? Color{0, 0, 0} : Color{255, 255, 255};
}

Color inferno(float value) {
  static const Palette kPalette = inferno_palette();
  const float last = static_cast<float>(kPalette.size() - 1);
  const float within = value > 0 ? std::min(value, 1.0F) : 0;  // NaN is 0
  return kPalette[static_cast<std::size_t>(std::lround(within * last))];
}

}  // namespace saccade
