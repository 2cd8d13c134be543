#include "scene/texture.hpp"

#include "scene/random.hpp"

namespace saccade::scene {
namespace {

float lattice(std::uint64_t key, int x, int y) {
  return static_cast<float>(mix(key + static_cast<std::uint64_t>(x) * 0x632be59bd9b4e019ULL +
                                static_cast<std::uint64_t>(y) * 0xd1b54a32d192ed03ULL) >>
                            40) *
         0x1p-24F;
}

std::uint8_t mean(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d) {
  return static_cast<std::uint8_t>((a + b + c + d + 2) / 4);
}

Texel mean(Texel a, Texel b, Texel c, Texel d) {
  Texel out = 0;
  for (int shift = 0; shift < 32; shift += 8)
    out |= (((a >> shift & 255) + (b >> shift & 255) + (c >> shift & 255) + (d >> shift & 255) + 2) / 4) << shift;
  return out;
}

}  // namespace

float noise_at(std::uint64_t key, float u, float v, int period) {
  const float x = fraction(u) * static_cast<float>(period);
  const float y = fraction(v) * static_cast<float>(period);
  const int ix = std::min(static_cast<int>(x), period - 1);
  const int iy = std::min(static_cast<int>(y), period - 1);
  const int jx = ix + 1 == period ? 0 : ix + 1;
  const int jy = iy + 1 == period ? 0 : iy + 1;
  const float fx = smooth_step(0, 1, x - static_cast<float>(ix));
  const float fy = smooth_step(0, 1, y - static_cast<float>(iy));
  return lerp(lerp(lattice(key, ix, iy), lattice(key, jx, iy), fx),
              lerp(lattice(key, ix, jy), lattice(key, jx, jy), fx), fy);
}

float cloud_at(std::uint64_t key, float u, float v, int period, int octaves) {
  float sum = 0;
  float weight = 0;
  float share = 1;
  for (int octave = 0; octave < octaves; ++octave, period *= 2, share *= 0.5F) {
    sum += share * noise_at(key + static_cast<std::uint64_t>(octave), u, v, period);
    weight += share;
  }
  return sum / weight;
}

template <typename T>
Texture<T>::Texture(int size, std::vector<T> texels) {
  int bits = 0;
  while ((1 << bits) < size) ++bits;
  levels_.push_back({size, bits, std::move(texels)});
  while (size > 4) {
    const std::vector<T>& from = levels_.back().texels;
    const auto row = static_cast<std::size_t>(size);
    size /= 2;
    std::vector<T> half;
    half.reserve(static_cast<std::size_t>(size) * static_cast<std::size_t>(size));
    for (std::size_t y = 0; y < row; y += 2)
      for (std::size_t x = 0; x < row; x += 2) {
        const T* at = from.data() + y * row + x;
        half.push_back(mean(at[0], at[1], at[row], at[row + 1]));
      }
    levels_.push_back({size, --bits, std::move(half)});
  }
}

template class Texture<std::uint8_t>;
template class Texture<Texel>;

Texel pack(const Vec3& colour) {
  const auto byte = [](float value) {
    return static_cast<Texel>(std::floor(std::clamp(value, 0.0F, 1.0F) * 255.0F + 0.5F));
  };
  return byte(colour.x) | byte(colour.y) << 8 | byte(colour.z) << 16;
}

int level_for(float footprint, float texel) {
  int level = 0;
  for (; texel < footprint && level < 16; texel *= 2) ++level;
  return level;
}

}  // namespace saccade::scene
