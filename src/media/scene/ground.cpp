#include "scene/ground.hpp"

#include "scene/random.hpp"

namespace saccade::scene {
namespace {

constexpr int kNode = 8;            // pixels between two looks at what changes slowly along a row
constexpr float kGrainTile = 2.3F;  // metres
constexpr float kStainTile = 150.0F;
constexpr float kGrainEnds = 26.0F;  // metres: finer than the pixels beyond

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

/// METRES as a texture's coordinate.
std::uint32_t coordinate(double metres, double tile) {
  const double turns = metres / tile;
  return static_cast<std::uint32_t>(static_cast<std::int64_t>((turns - std::floor(turns)) * 4294967296.0));
}

/// A step of METRES; far ones wrap like the coordinates.
std::uint32_t stride(double metres, double tile) {
  return static_cast<std::uint32_t>(static_cast<std::int64_t>(metres / tile * 4294967296.0));
}

/// Two of four bytes, a pixel apart, mixed by a share of 256: the odd bytes and the even ones at once.
Texel mixed(Texel a, Texel b, std::uint32_t share) {
  constexpr Texel kEven = 0x00ff00ff;
  const Texel even = ((a & kEven) * (256 - share) + (b & kEven) * share) >> 8 & kEven;
  const Texel odd = (a >> 8 & kEven) * (256 - share) + (b >> 8 & kEven) * share;
  return even | (odd & ~kEven);
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

/// The light at every kNode-th pixel: sun and sky, stains, lamps.
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
    nodes_[i] = {static_cast<int>(light.x), static_cast<int>(light.y), static_cast<int>(light.z)};
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
  for (int node = 0; node * kNode < width; ++node) {
    std::array<int, 3> light = nodes_[static_cast<std::size_t>(node)];
    std::array<int, 3> step{};
    for (std::size_t c = 0; c < 3; ++c) step[c] = (nodes_[static_cast<std::size_t>(node) + 1][c] - light[c]) / kNode;
    const int end = std::min((node + 1) * kNode, width);
    for (int x = node * kNode; x < end; ++x) {
      const Texel* above = paint.row(v);
      const Texel* under = paint.row(v + (1U << shift));
      const std::uint32_t left = u >> shift;
      const std::uint32_t right = (left + 1) & mask;
      const std::uint32_t fu = (u >> (shift - 8)) & 255;
      const std::uint32_t fv = (v >> (shift - 8)) & 255;
      const Texel texel = mixed(mixed(above[left], above[right], fu), mixed(under[left], under[right], fu), fv);
      const int fine = 256 + (((static_cast<int>(grain.row(gv)[gu >> (32 - grain.bits)]) - 128) * strength) >> 7);
      for (std::size_t c = 0; c < 3; ++c) {
        const int albedo = (static_cast<int>(texel >> (8 * c) & 255) * fine) >> 8;
        const int reach = light[c] - (shadow[x] != 0 ? taken[c] : 0);
        const int value = ((albedo * std::max(reach, 0)) >> 8) + haze[c];
        colour[3 * x + static_cast<int>(c)] = static_cast<std::uint16_t>(std::clamp(value, 0, kMax));
        light[c] += step[c];
      }
      u += du;
      v += dv;
      gu += dgu;
      gv += dgv;
    }
  }
}

}  // namespace saccade::scene
