#pragma once

#include <array>
#include <cmath>

namespace saccade {

/// A box x1, y1, x2, y2 in pixels.
using TrackBox = std::array<double, 4>;

/// Where the camera's motion moves what stands still, in pixels from one frame to the next: a rotation, a scale and a
/// translation, (x, y) -> (a x - b y + x0, b x + a y + y0).
struct CameraTransform {
  double a = 1;
  double b = 0;
  double x0 = 0;
  double y0 = 0;

  bool operator==(const CameraTransform&) const = default;
  /// The same in pixels of which FACTOR are a side of one of these, whose coordinate 0 is at SHIFT.
  CameraTransform in_pixels(double factor, double shift) const {
    return {a, b, factor * x0 + shift - shift * (a - b), factor * y0 + shift - shift * (b + a)};
  }
  double scale() const { return std::hypot(a, b); }
  /// A velocity in pixels.
  std::array<double, 2> turn(double x, double y) const { return {a * x - b * y, b * x + a * y}; }
  /// The centre is moved, the sides are scaled: they stay parallel to the axes.
  TrackBox apply(const TrackBox& box) const {
    const double x = (box[0] + box[2]) / 2;
    const double y = (box[1] + box[3]) / 2;
    const double half_width = scale() * (box[2] - box[0]) / 2;
    const double half_height = scale() * (box[3] - box[1]) / 2;
    const double moved_x = a * x - b * y + x0;
    const double moved_y = b * x + a * y + y0;
    return {moved_x - half_width, moved_y - half_height, moved_x + half_width, moved_y + half_height};
  }
};

}  // namespace saccade
