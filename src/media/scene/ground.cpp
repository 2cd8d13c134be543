#include "scene/ground.hpp"

#include <emmintrin.h>  // SSE2: every x86-64 machine has it

#include "scene/random.hpp"

namespace saccade::scene {
namespace {

constexpr int kNode = 8;            // pixels between two samples of what varies slowly along a row
constexpr float kGrainTile = 2.3F;  // metres
constexpr float kStainTile = 150.0F;
constexpr float kGrainEnds = 26.0F;  // metres; beyond, the grain is finer than the pixels

std::vector<std::uint8_t> clouds(std::uint64_t key, int size, int period, int octaves, float contrast) {
  std::vector<std::uint8_t> texels;
  for (int y = 0; y < size; ++y)
    for (int x = 0; x < size; ++x) {
      const float u = (static_cast<float>(x) + 0.5F) / static_cast<float>(size);
      const float v = (static_cast<float>(y) + 0.5F) / static_cast<float>(size);
      const float value = 0.5F + contrast * (cloud_at(key, u, v, period, octaves) - 0.5F);
      texels.push_back(static_cast<std::uint8_t>(std::clamp(value, 0.0F, 0.999F) * 256));
    }
  return texels;
}

/// METRES as a texture coordinate.
std::uint32_t coordinate(double metres, double tile) {
  const double turns = metres / tile;
  return static_cast<std::uint32_t>(static_cast<std::int64_t>((turns - std::floor(turns)) * 4294967296.0));
}

/// A step of METRES; large ones wrap like the coordinates.
std::uint32_t stride(double metres, double tile) {
  return static_cast<std::uint32_t>(static_cast<std::int64_t>(metres / tile * 4294967296.0));
}

/// Eight 16-bit numbers: the four bytes of one texel, then those of another.
__m128i widened(Texel first, Texel second) {
  const __m128i both =
      _mm_unpacklo_epi32(_mm_cvtsi32_si128(static_cast<int>(first)), _mm_cvtsi32_si128(static_cast<int>(second)));
  return _mm_unpacklo_epi8(both, _mm_setzero_si128());
}

/// Linear interpolation of A and B, 0 to 255 each; SHARE of 256 is B's weight.
__m128i mixed(__m128i a, __m128i b, std::uint32_t share) {
  const __m128i kept = _mm_mullo_epi16(a, _mm_set1_epi16(static_cast<short>(256 - share)));
  const __m128i added = _mm_mullo_epi16(b, _mm_set1_epi16(static_cast<short>(share)));
  return _mm_srli_epi16(_mm_add_epi16(kept, added), 8);
}

__m128i colours(const std::array<int, 3>& c) {
  return _mm_setr_epi16(static_cast<short>(c[0]), static_cast<short>(c[1]), static_cast<short>(c[2]), 0, 0, 0, 0, 0);
}

}  // namespace

struct Ground::Row {
  int y = 0;
  float depth = 0;  ///< metres
  double x = 0;     ///< of the first pixel's centre on the ground, metres
  double z = 0;
  double dx = 0;  ///< from pixel to pixel
  double dz = 0;
  float hazy = 0;
};

Ground::Ground(int place, std::uint64_t seed, int width)
    : paint_(512, paint_ground(place, seed, 512)),
      grain_(256, clouds(mix(seed, 0x94a1), 256, 16, 5, 1.9F)),
      stains_(128, clouds(mix(seed, 0x57a1), 128, 6, 4, 1.6F)),
      nodes_(static_cast<std::size_t>(width / kNode + 2)) {}

void Ground::draw(Canvas& canvas, const Mask& shadow, const World& world) {
  const Camera& camera = world.camera;
  const int first = std::max(0, static_cast<int>(std::floor(camera.horizon + 0.5F)));
  for (int y = first; y < canvas.height; ++y) {
    const float below = static_cast<float>(y) + 0.5F - camera.horizon;
    Row row;
    row.y = y;
    row.depth = std::min(camera.focal * camera.height / std::max(below, 0.01F), 2000.0F);
    row.dx = camera.cosine * row.depth / camera.focal;
    row.dz = -camera.sine * row.depth / camera.focal;
    const double start = 0.5 - camera.centre;
    row.x = start * row.dx + camera.sine * row.depth;
    row.z = start * row.dz + camera.cosine * row.depth + camera.travel;
    row.hazy = haze_at(row.depth);
    set_nodes(row, world);
    draw_row(row, world, shadow.row(y),
             &canvas.colour[static_cast<std::size_t>(y) * static_cast<std::size_t>(canvas.width) * 3]);
  }
}

/// Light at every kNode-th pixel: sun and sky, stains, lamps.
void Ground::set_nodes(const Row& row, const World& world) {
  const auto& stains = stains_.level(level_for(row.depth / world.camera.focal * kNode, kStainTile / 128));
  const float clear = 1 - row.hazy;
  const Vec3 day = (world.light.ambient + world.light.sun * world.light.to_sun.y) * clear;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const double x = row.x + row.dx * static_cast<double>(i * kNode);
    const double z = row.z + row.dz * static_cast<double>(i * kNode);
    const std::uint32_t u = coordinate(x, kStainTile);
    const float stain =
        0.72F + static_cast<float>(stains.row(coordinate(z, kStainTile))[u >> (32 - stains.bits)]) * (0.56F / 255);
    Vec3 light = day;
    if (world.light.lamps > 0)
      for (const Pool& pool : world.pools) {
        const float ax = static_cast<float>(x) - pool.position.x;
        const float az = static_cast<float>(z - world.camera.travel) - pool.position.z;
        const float near = 1 - (ax * ax + az * az) / (pool.radius * pool.radius);
        if (near > 0) light = light + Vec3{1.0F, 0.78F, 0.45F} * (1.1F * near * near * clear * world.light.lamps);
      }
    light = light * (stain * kOne);
    const auto bounded = [](float value) { return static_cast<int>(std::min(value, 2.0F * kMax)); };
    nodes_[i] = {bounded(light.x), bounded(light.y), bounded(light.z)};
  }
}

void Ground::draw_row(const Row& row, const World& world, const std::uint8_t* shadow, std::uint16_t* colour) const {
  const Camera& camera = world.camera;
  const float footprint = row.depth / camera.focal * (1 + 0.35F * row.depth / camera.height);
  const auto& paint = paint_.level(level_for(footprint, kGroundTile / 512));
  const auto& grain = grain_.level(level_for(footprint, kGrainTile / 256));
  const int strength = static_cast<int>(95 * (1 - smooth_step(0.5F * kGrainEnds, kGrainEnds, row.depth)));
  const Vec3 sunless = world.light.sun * (world.light.to_sun.y * world.light.shadow * (1 - row.hazy) * 0.8F * kOne);
  const std::array<int, 3> taken = {static_cast<int>(sunless.x), static_cast<int>(sunless.y),
                                    static_cast<int>(sunless.z)};
  const Vec3 far = world.light.haze * (row.hazy * kOne);
  const std::array<int, 3> haze = {static_cast<int>(far.x), static_cast<int>(far.y), static_cast<int>(far.z)};
  const int shift = 32 - paint.bits;
  const auto mask = static_cast<std::uint32_t>(paint.size - 1);
  std::uint32_t u = coordinate(row.x + 0.5 * kGroundTile, kGroundTile);
  std::uint32_t v = coordinate(row.z, kGroundTile);
  const std::uint32_t du = stride(row.dx, kGroundTile);
  const std::uint32_t dv = stride(row.dz, kGroundTile);
  std::uint32_t gu = coordinate(row.x, kGrainTile);
  std::uint32_t gv = coordinate(row.z, kGrainTile);
  const std::uint32_t dgu = stride(row.dx, kGrainTile);
  const std::uint32_t dgv = stride(row.dz, kGrainTile);
  const int width = static_cast<int>(2 * camera.centre);
  const __m128i taken_lanes = colours(taken);
  const __m128i haze_lanes = colours(haze);
  const __m128i most = _mm_set1_epi16(kMax);
  for (int node = 0; node * kNode < width; ++node) {
    const std::array<int, 3>& from = nodes_[static_cast<std::size_t>(node)];
    const std::array<int, 3>& to = nodes_[static_cast<std::size_t>(node) + 1];
    __m128i light = colours(from);
    const __m128i step = colours({(to[0] - from[0]) / kNode, (to[1] - from[1]) / kNode, (to[2] - from[2]) / kNode});
    const int end = std::min((node + 1) * kNode, width);
    for (int x = node * kNode; x < end; ++x) {
      const Texel* above = paint.row(v);
      const Texel* under = paint.row(v + (1U << shift));
      const std::uint32_t left = u >> shift;
      const std::uint32_t right = (left + 1) & mask;
      const __m128i sides =
          mixed(widened(above[left], under[left]), widened(above[right], under[right]), u >> (shift - 8) & 255);
      const __m128i texel = mixed(sides, _mm_srli_si128(sides, 8), v >> (shift - 8) & 255);
      const int fine = 256 + (((static_cast<int>(grain.row(gv)[gu >> (32 - grain.bits)]) - 128) * strength) >> 7);
      // The upper half of a product of 16-bit numbers that were shifted left by 8 bits together.
      const __m128i albedo = _mm_mulhi_epu16(_mm_slli_epi16(texel, 8), _mm_set1_epi16(static_cast<short>(fine)));
      const __m128i shade = _mm_and_si128(taken_lanes, _mm_set1_epi16(static_cast<short>(-shadow[x])));
      const __m128i reach = _mm_max_epi16(_mm_sub_epi16(light, shade), _mm_setzero_si128());
      const __m128i value =
          _mm_adds_epu16(_mm_mulhi_epu16(_mm_slli_epi16(albedo, 7), _mm_slli_epi16(reach, 1)), haze_lanes);
      // The fourth lane overlaps the next pixel, which is written afterwards.
      _mm_storel_epi64(reinterpret_cast<__m128i*>(colour + 3 * static_cast<std::ptrdiff_t>(x)),
                       _mm_sub_epi16(value, _mm_subs_epu16(value, most)));
      light = _mm_add_epi16(light, step);
      u += du;
      v += dv;
      gu += dgu;
      gv += dgv;
    }
  }
}

}  // namespace saccade::scene
