#pragma once

#include "scene/raster.hpp"
#include "scene/texture.hpp"

namespace saccade::scene {

/// Everything above the horizon: clouds, stars, and a skyline of hills or houses.
class Sky {
 public:
  Sky(int place, std::uint64_t seed, int width);
  void draw(Canvas& canvas, const World& world);

 private:
  /// One band of hills or houses all around the camera.
  struct Skyline {
    std::vector<float> height;          // tangent of the elevation, by direction
    std::vector<std::uint8_t> windows;  // building number at that column; 0: none
    Vec3 colour;
    float hazy = 0;
  };
  struct Star {
    float direction;  // turns
    float elevation;  // tangent
    float bright;
  };
  struct WallRow;

  static Skyline make_skyline(int place, std::uint64_t seed, int band);
  void draw_clouds(Canvas& canvas, const World& world) const;
  void draw_stars(Canvas& canvas, const World& world) const;
  float find_tops(const Skyline& skyline, const Camera& camera);
  static WallRow wall_row(const Skyline& skyline, float rise, const World& world);
  void draw_skyline(Canvas& canvas, const World& world);

  Texture<std::uint8_t> clouds_;
  std::vector<Skyline> skylines_;
  std::vector<Star> stars_;
  std::vector<float> tops_;  // row of the skyline in each column
  std::vector<std::uint16_t> places_;
  std::uint64_t seed_;
};

}  // namespace saccade::scene
