#pragma once

#include "scene/raster.hpp"
#include "tensor/frame.hpp"

namespace saccade::scene {

/// How far something moves in the image while the shutter is open, pixels.
struct Streak {
  float x = 0;
  float y = 0;
};

/// The camera: what moves while the shutter is open smears, the corners darken, the sensor adds noise.
class Exposure {
 public:
  Exposure(int width, int height, std::uint64_t seed);
  /// Softens the edges of what stands before the background, as a lens does.
  static void soften(Canvas& canvas);
  /// Smears the whole of CANVAS along STREAK.
  void smear(Canvas& canvas, const Streak& streak);
  /// Smears instance number INDEX, which shows between the rows and columns of [LEFT, RIGHT) x [TOP, BOTTOM).
  void smear_instance(Canvas& canvas, int index, const Streak& streak, int left, int top, int right, int bottom);
  /// Turns light into grey levels; NOISE is their deviation.
  void develop(const Canvas& canvas, std::int64_t frame, float noise, const RgbView& out) const;

 private:
  std::vector<float> corner_x_;       // what the lens lets through, three a column
  std::vector<float> corner_y_;       // by row
  std::vector<std::int16_t> grains_;  // a normal distribution, 256 to one deviation
  std::vector<std::uint32_t> sums_;
  std::vector<std::uint16_t> copy_;
  std::uint64_t seed_;
};

}  // namespace saccade::scene
