#pragma once

#include "scene/raster.hpp"
#include "scene/texture.hpp"

namespace saccade::scene {

/// The ground of a place: a repeating texture, fine grain nearby, and large stains that hide the repetition.
class Ground {
 public:
  Ground(int place, std::uint64_t seed, int width);
  /// Draws all rows below the horizon; SHADOW marks shadowed pixels.
  void draw(Canvas& canvas, const Mask& shadow, const World& world);

 private:
  struct Row;
  void set_nodes(const Row& row, const World& world);
  void draw_row(const Row& row, const World& world, const std::uint8_t* shadow, std::uint16_t* colour) const;

  Texture<Texel> paint_;
  Texture<std::uint8_t> grain_;
  Texture<std::uint8_t> stains_;
  std::vector<std::array<int, 3>> nodes_;  // light at every kNode-th pixel of a row
};

/// The repeating texture of PLACE, SIZE x SIZE texels.
std::vector<Texel> paint_ground(int place, std::uint64_t seed, int size);
/// Its side in metres.
inline constexpr float kGroundTile = 24;

}  // namespace saccade::scene
