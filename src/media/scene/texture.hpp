#pragma once

#include <cstdint>
#include <vector>

#include "scene/geometry.hpp"

namespace saccade::scene {

/// Smooth noise in [0, 1) with period 1 in U and V and PERIOD cells per side.
float noise_at(std::uint64_t key, float u, float v, int period);
/// Fractal noise of OCTAVES, each with double frequency and half amplitude; in [0, 1).
float cloud_at(std::uint64_t key, float u, float v, int period, int octaves);

/// A repeating square texture with mipmaps. A coordinate's 32 bits span one repeat, so that it wraps by itself.
template <typename T>
class Texture {
 public:
  /// Takes a SIZE x SIZE image, SIZE a power of two.
  Texture(int size, std::vector<T> texels);

  int levels() const { return static_cast<int>(levels_.size()); }
  int size(int level) const { return levels_[static_cast<std::size_t>(level)].size; }

  struct Level {
    int size = 0;
    int bits = 0;  ///< log2 of size
    std::vector<T> texels;

    const T* row(std::uint32_t v) const { return texels.data() + (static_cast<std::size_t>(v >> (32 - bits)) << bits); }
  };
  /// The smallest level has 4 texels per side.
  const Level& level(int index) const { return levels_[static_cast<std::size_t>(std::min(index, levels() - 1))]; }

 private:
  std::vector<Level> levels_;
};

/// Four bytes, red first.
using Texel = std::uint32_t;
Texel pack(const Vec3& colour);

/// The mipmap level at which TEXEL is at least FOOTPRINT.
int level_for(float footprint, float texel);

}  // namespace saccade::scene
