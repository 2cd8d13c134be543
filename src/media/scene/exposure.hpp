#pragma once

#include "scene/raster.hpp"
#include "tensor/frame.hpp"

namespace saccade::scene {

/// Motion in the image during the exposure, in pixels.
struct Streak {
  float x = 0;
  float y = 0;
};

/// The camera: motion blur, vignetting and sensor noise.
class Exposure {
 public:
  Exposure(int width, int height, std::uint64_t seed);
  /// Antialiases the edges of foreground objects, as a lens does.
  static void soften(Canvas& canvas);
  /// Applies motion blur along STREAK to the whole CANVAS.
  void smear(Canvas& canvas, const Streak& streak);
  /// Applies motion blur to instance INDEX, visible in the rows and columns of [LEFT, RIGHT) x [TOP, BOTTOM).
  void smear_instance(Canvas& canvas, int index, const Streak& streak, int left, int top, int right, int bottom);
  /// Converts light to grey levels; NOISE is their standard deviation.
  void develop(const Canvas& canvas, std::int64_t frame, float noise, const RgbView& out) const;

 private:
  std::vector<float> corner_x_;       // vignetting, three values per column
  std::vector<float> corner_y_;       // vignetting by row
  std::vector<std::int16_t> grains_;  // normally distributed, one standard deviation is 256
  std::vector<std::uint32_t> sums_;
  std::vector<std::uint16_t> copy_;
  std::uint64_t seed_;
};

}  // namespace saccade::scene
