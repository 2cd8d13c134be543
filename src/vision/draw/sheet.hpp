#pragma once

#include <algorithm>
#include <cmath>

#include "draw/ink.hpp"
#include "saccade/results.hpp"

namespace saccade {

// Lines have a dark rim, so that they are visible on light images.
inline constexpr Color kRim = {0, 0, 0};
inline constexpr int kRimOpacity = 120;

/// The colour of a tracked object's ID, else of its class.
inline Color object_color(const Detection& detection) {
  constexpr std::int64_t kColors = 256;
  return class_color(detection.track_id > 0 ? static_cast<int>(detection.track_id % kColors) : detection.class_id);
}

/// An image to draw on, with the scale of result coordinates and the sizes of lines and letters.
struct Sheet {
  RgbView image;
  float scale_x = 1;  ///< image pixels per source pixel: above 1 for an upscaled image
  float scale_y = 1;
  int letters = 0;  ///< height of letters in pixels
  int line = 0;
  int margin = 0;  ///< around letters

  Sheet(const RgbView& on, const Result& result)
      : image(on),
        scale_x(result.width > 0 ? static_cast<float>(on.width) / static_cast<float>(result.width) : 1),
        scale_y(result.height > 0 ? static_cast<float>(on.height) / static_cast<float>(result.height) : 1),
        letters(std::clamp(std::min(on.width, on.height) / 42, 11, 96)),
        line(std::max(1, (letters + 2) / 6)),
        margin(std::max(2, letters / 5)) {}

  Point at(float x, float y) const { return {x * scale_x, y * scale_y}; }

  /// A box of the source, rounded to pixels and clipped to the image; empty if a coordinate is NaN.
  Rect rect(const std::array<float, 4>& box) const {
    if (std::ranges::any_of(box, [](float value) { return std::isnan(value); })) return {};
    const auto whole = [](float value, int limit) {
      return static_cast<int>(std::lround(std::clamp(value, 0.0F, static_cast<float>(limit))));
    };
    return {whole(box[0] * scale_x, image.width), whole(box[1] * scale_y, image.height),
            whole(box[2] * scale_x, image.width), whole(box[3] * scale_y, image.height)};
  }
};

}  // namespace saccade
