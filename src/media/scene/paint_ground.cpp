#include "scene/ground.hpp"
#include "scene/random.hpp"

namespace saccade::scene {
namespace {

/// A point of the texture: metres from its middle, and normalized to its side.
struct Spot {
  float x;
  float z;
  float u;
  float v;
};

float line(float at, float centre, float half) {
  return 1 - smooth_step(half * 0.8F, half * 1.2F, std::abs(at - centre));
}

/// Round spots on a grid of COUNT x COUNT cells, of which a fraction SHARE has one. Returns their strength at SPOT and,
/// in TONE, a random number of the spot.
float spots(std::uint64_t key, const Spot& spot, int count, float share, float& tone) {
  const float x = spot.u * static_cast<float>(count);
  const float y = spot.v * static_cast<float>(count);
  const int ix = std::min(static_cast<int>(x), count - 1);
  const int iy = std::min(static_cast<int>(y), count - 1);
  Random random(key, static_cast<std::uint64_t>(iy * count + ix));
  if (random.unit() > share) return 0;
  const float radius = random.between(0.15F, 0.38F);
  const float dx = x - static_cast<float>(ix) - random.between(radius, 1 - radius);
  const float dy = y - static_cast<float>(iy) - random.between(radius, 1 - radius);
  tone = random.unit();
  return 1 - smooth_step(radius * 0.75F, radius, std::sqrt(dx * dx + dy * dy));
}

Vec3 street(std::uint64_t key, const Spot& spot) {
  constexpr float kRoad = 5.2F;
  const float grime = cloud_at(key, spot.u, spot.v, 8, 4);
  const float aside = std::abs(spot.x);
  if (aside > kRoad + 0.3F) {  // slabs
    const float joint =
        std::max(line(fraction(spot.x / 1.5F), 0.5F, 0.02F), line(fraction(spot.z / 1.5F), 0.5F, 0.02F));
    const int slab = static_cast<int>((spot.x + 12) / 1.5F) * 16 + static_cast<int>((spot.z + 12) / 1.5F);
    const float shade = 0.8F + 0.3F * Random(key, static_cast<std::uint64_t>(slab)).unit();
    return Vec3{0.33F, 0.31F, 0.28F} * (shade * (0.75F + 0.5F * grime) * (1 - 0.5F * joint));
  }
  if (aside > kRoad) return Vec3{0.5F, 0.49F, 0.47F} * (0.7F + 0.5F * grime);  // kerb
  Vec3 tarmac = Vec3{0.105F, 0.105F, 0.115F} * (0.6F + 0.9F * grime);
  float tone = 0;
  const float patch = spots(key + 7, spot, 9, 0.13F, tone);
  tarmac = lerp(tarmac, tone < 0.5F ? Vec3{0.04F, 0.04F, 0.045F} : Vec3{0.24F, 0.22F, 0.2F}, 0.75F * patch);
  float white = line(aside, 4.8F, 0.08F);
  if (fraction(spot.z / 6) < 0.5F) white = std::max(white, line(spot.x, 0, 0.08F));
  if (spot.z > 8 && spot.z < 11.2F && aside < 4.5F) white = std::max(white, line(fraction(spot.x), 0.5F, 0.26F));
  return lerp(tarmac, Vec3{0.72F, 0.71F, 0.66F}, white * (0.45F + 0.5F * grime));
}

Vec3 meadow(std::uint64_t key, const Spot& spot) {
  const float lush = cloud_at(key, spot.u, spot.v, 6, 5);
  const float blade = noise_at(key + 20, spot.u, spot.v, 128);
  Vec3 grass = lerp(Vec3{0.10F, 0.20F, 0.03F}, Vec3{0.24F, 0.33F, 0.08F}, smooth_step(0.3F, 0.7F, lush)) *
               (0.65F + 0.7F * blade);
  float tone = 0;
  const float flower = spots(key + 30, spot, 80, 0.07F, tone);
  const Vec3 petals = tone < 0.4F   ? Vec3{0.8F, 0.78F, 0.7F}
                      : tone < 0.7F ? Vec3{0.8F, 0.6F, 0.05F}
                                    : Vec3{0.6F, 0.12F, 0.2F};
  grass = lerp(grass, petals, flower * smooth_step(0.4F, 0.6F, cloud_at(key + 40, spot.u, spot.v, 5, 2)));
  const float way = spot.x - 1.4F * sine(spot.v) - 0.8F * noise_at(key + 50, spot.u, spot.v, 12);
  const float worn = 1 - smooth_step(1.3F, 2.1F, std::abs(way));
  const Vec3 earth = Vec3{0.33F, 0.24F, 0.14F} * (0.6F + 0.8F * cloud_at(key + 60, spot.u, spot.v, 24, 3));
  return lerp(grass, earth, worn * 0.9F);
}

Vec3 desert(std::uint64_t key, const Spot& spot) {
  const float dune = cloud_at(key, spot.u, spot.v, 5, 4);
  const float ripple = 0.5F + 0.5F * sine(spot.v * 40.0 + 3.0 * noise_at(key + 3, spot.u, spot.v, 6));
  Vec3 sand = lerp(Vec3{0.50F, 0.33F, 0.17F}, Vec3{0.68F, 0.50F, 0.29F}, dune) * (0.86F + 0.2F * ripple);
  float tone = 0;
  const float stone = spots(key + 11, spot, 40, 0.12F, tone);
  sand = lerp(sand, Vec3{0.28F, 0.2F, 0.15F} * (0.6F + tone), stone);
  const float crack = std::abs(cloud_at(key + 21, spot.u, spot.v, 9, 3) - 0.5F);
  return sand * (0.72F + 0.28F * smooth_step(0, 0.02F, crack));
}

Vec3 snow(std::uint64_t key, const Spot& spot) {
  const float drift = cloud_at(key, spot.u, spot.v, 4, 5);
  Vec3 white = lerp(Vec3{0.50F, 0.58F, 0.70F}, Vec3{0.78F, 0.80F, 0.83F}, smooth_step(0.3F, 0.7F, drift));
  const float ice = smooth_step(0.62F, 0.66F, cloud_at(key + 9, spot.u, spot.v, 3, 3));
  white = lerp(white, Vec3{0.25F, 0.40F, 0.52F}, 0.8F * ice);
  float tone = 0;
  const float stone = spots(key + 13, spot, 30, 0.05F, tone);
  white = lerp(white, Vec3{0.2F, 0.2F, 0.22F} * (0.5F + tone), stone);
  const float rut =
      std::max(line(spot.x, 1.1F + 0.4F * sine(spot.v), 0.2F), line(spot.x, -0.5F + 0.4F * sine(spot.v), 0.2F));
  return white * (1 - 0.38F * rut * (0.6F + 0.4F * noise_at(key + 17, spot.u, spot.v, 96)));
}

}  // namespace

std::vector<Texel> paint_ground(int place, std::uint64_t seed, int size) {
  constexpr std::array kPaint = {street, meadow, desert, snow};
  const auto paint = kPaint[static_cast<std::size_t>(place)];
  const std::uint64_t key = mix(seed, 0x640d);
  std::vector<Texel> texels;
  texels.reserve(static_cast<std::size_t>(size) * static_cast<std::size_t>(size));
  for (int y = 0; y < size; ++y)
    for (int x = 0; x < size; ++x) {
      const float u = (static_cast<float>(x) + 0.5F) / static_cast<float>(size);
      const float v = (static_cast<float>(y) + 0.5F) / static_cast<float>(size);
      texels.push_back(pack(paint(key, {(u - 0.5F) * kGroundTile, (v - 0.5F) * kGroundTile, u, v})));
    }
  return texels;
}

}  // namespace saccade::scene
