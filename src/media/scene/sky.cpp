#include "scene/sky.hpp"

#include "scene/random.hpp"

namespace saccade::scene {
namespace {

constexpr int kDirections = 4096;  // azimuth steps around the camera
constexpr int kClouds = 256;

std::vector<std::uint8_t> cover(std::uint64_t key) {
  std::vector<std::uint8_t> texels;
  for (int y = 0; y < kClouds; ++y)
    for (int x = 0; x < kClouds; ++x) {
      const float value =
          cloud_at(key, (static_cast<float>(x) + 0.5F) / kClouds, (static_cast<float>(y) + 0.5F) / kClouds, 5, 6);
      texels.push_back(static_cast<std::uint8_t>(255 * smooth_step(0.44F, 0.72F, value)));
    }
  return texels;
}

std::array<int, 3> fixed(const Vec3& colour) {
  const Vec3 c = colour * static_cast<float>(kOne);
  return {static_cast<int>(c.x), static_cast<int>(c.y), static_cast<int>(c.z)};
}

std::uint32_t coordinate(double turns) {
  return static_cast<std::uint32_t>(static_cast<std::int64_t>((turns - std::floor(turns)) * 4294967296.0));
}

}  // namespace

Sky::Sky(int place, std::uint64_t seed, int width)
    : clouds_(kClouds, cover(mix(seed, 0xc10d))),
      tops_(static_cast<std::size_t>(width)),
      places_(static_cast<std::size_t>(width)),
      seed_(seed) {
  for (int band = 0; band < 2; ++band) skylines_.push_back(make_skyline(place, seed, band));
  Random random(seed, 0x57a4);
  for (int i = 0; i < 900; ++i) {
    const float direction = random.unit();
    const float elevation = random.between(0.02F, 0.7F);
    const float bright = random.unit();
    stars_.push_back({direction, elevation, bright * bright});
  }
}

Sky::Skyline Sky::make_skyline(int place, std::uint64_t seed, int band) {
  constexpr Vec3 kColour[4] = {
      {0.16F, 0.17F, 0.2F}, {0.10F, 0.17F, 0.09F}, {0.36F, 0.22F, 0.13F}, {0.42F, 0.48F, 0.56F}};
  const bool is_town = place == 0;
  const bool is_far = band == 0;
  Skyline skyline;
  skyline.hazy = is_far ? 0.72F : 0.45F;
  skyline.colour = kColour[place] * (is_far ? 1.0F : 0.75F);
  const std::uint64_t key = mix(seed, 0x5c1e + static_cast<std::uint64_t>(band));
  Random random(key);
  int house = 0;
  int house_ends = 0;
  float roof = 0;
  for (int i = 0; i < kDirections; ++i) {
    if (is_town && i >= house_ends) {
      house_ends = i + 12 + random.below(is_far ? 26 : 44);
      house = 1 + random.below(255);
      roof = random.unit() < 0.12F ? 0.01F : random.between(0.05F, is_far ? 0.22F : 0.15F);
    }
    const float hill = cloud_at(key, static_cast<float>(i) / kDirections, 0.3F, is_far ? 24 : 40, 5);
    skyline.height.push_back(is_town ? roof : (is_far ? 0.30F : 0.17F) * std::max(hill - 0.28F, 0.0F));
    skyline.windows.push_back(static_cast<std::uint8_t>(house));
  }
  return skyline;
}

void Sky::draw(Canvas& canvas, const World& world) {
  draw_clouds(canvas, world);
  if (world.night > 0.5F) draw_stars(canvas, world);
  draw_skyline(canvas, world);
}

void Sky::draw_clouds(Canvas& canvas, const World& world) const {
  const Camera& camera = world.camera;
  const int rows = std::clamp(static_cast<int>(std::floor(camera.horizon + 0.5F)), 0, canvas.height);
  const std::array<int, 3> cloud =
      fixed(lerp(world.light.ambient * 0.9F + world.light.sun * 0.45F, world.light.haze, 0.25F));
  for (int y = 0; y < rows; ++y) {
    const float rise = (camera.horizon - static_cast<float>(y) - 0.5F) / camera.focal;
    const float up = rise / (rise + 0.16F);
    const std::array<int, 3> clear =
        fixed(lerp(world.light.haze, world.light.zenith, std::clamp(1.4F * up, 0.0F, 1.0F)));
    const int most = static_cast<int>(235 * smooth_step(0.01F, 0.2F, rise));
    // Clouds lie on a plane at height 1 that bends down towards the horizon.
    const float away = 1 / (rise + 0.09F);
    const auto& level = clouds_.level(level_for(away * away / camera.focal, 4.0F / kClouds));
    const double du = away / camera.focal * camera.cosine / 8;
    const double dv = -away / camera.focal * camera.sine / 8;
    const double drift = world.time * 0.002;
    const std::uint32_t step_u = coordinate(du);
    const std::uint32_t step_v = coordinate(dv);
    std::uint32_t u = coordinate(away * camera.sine / 8 - du * camera.centre + drift);
    std::uint32_t v = coordinate(away * camera.cosine / 8 - dv * camera.centre + 0.5 * drift);
    std::uint16_t* out = &canvas.colour[static_cast<std::size_t>(y) * static_cast<std::size_t>(canvas.width) * 3];
    const int shift = 32 - level.bits;
    const auto mask = static_cast<std::uint32_t>(level.size - 1);
    for (int x = 0; x < canvas.width; ++x, u += step_u, v += step_v) {
      const std::uint8_t* above = level.row(v);
      const std::uint8_t* under = level.row(v + (1U << shift));
      const std::uint32_t left = u >> shift;
      const std::uint32_t right = (left + 1) & mask;
      const auto fu = static_cast<int>(u >> (shift - 8) & 255);
      const auto fv = static_cast<int>(v >> (shift - 8) & 255);
      const int top = above[left] * (256 - fu) + above[right] * fu;
      const int low = under[left] * (256 - fu) + under[right] * fu;
      const int share = (((top >> 8) * (256 - fv) + (low >> 8) * fv) >> 8) * most >> 8;
      for (std::size_t c = 0; c < 3; ++c)
        out[3 * x + static_cast<int>(c)] =
            static_cast<std::uint16_t>(clear[c] + (((cloud[c] - clear[c]) * share) >> 8));
    }
  }
}

void Sky::draw_stars(Canvas& canvas, const World& world) const {
  const Camera& camera = world.camera;
  const double yaw = camera.sine / 6.2831853;
  for (const Star& star : stars_) {
    const double off = star.direction - yaw;
    const double turns = off - std::floor(off + 0.5);
    const auto x = static_cast<int>(std::floor(camera.centre + camera.focal * turns * 6.2831853));
    const auto y = static_cast<int>(std::floor(camera.horizon - camera.focal * star.elevation));
    if (x < 0 || x >= canvas.width || y < 0 || y >= canvas.height) continue;
    std::uint16_t* out = &canvas.colour[(static_cast<std::size_t>(y) * static_cast<std::size_t>(canvas.width) +
                                         static_cast<std::size_t>(x)) *
                                        3];
    const int bright = static_cast<int>(1800 * star.bright * (world.night - 0.5F) * 2);
    for (int c = 0; c < 3; ++c) out[c] = static_cast<std::uint16_t>(std::min(out[c] + bright, kMax));
  }
}

/// Colours of one row of a skyline.
struct Sky::WallRow {
  std::array<int, 3> wall;
  std::array<int, 3> lit;
  std::array<int, 3> dark;
  std::uint64_t storey = 0;
  bool has_windows = false;
};

Sky::WallRow Sky::wall_row(const Skyline& skyline, float rise, const World& world) {
  const Vec3 light = world.light.ambient + world.light.sun * 0.5F;
  // Mist at the foot of the skyline.
  const float foot = 1 - std::clamp(rise * 6, 0.0F, 1.0F);
  const Vec3 wall = lerp(skyline.colour * light, world.light.haze, lerp(skyline.hazy, 1.0F, 0.45F * foot));
  const float storeys = rise * 160;
  WallRow row;
  row.wall = fixed(wall);
  row.lit = fixed(lerp(wall * 0.72F, Vec3{1.1F, 0.8F, 0.4F}, 0.75F * world.light.lamps));
  row.dark = fixed(wall * 0.72F);
  row.storey = static_cast<std::uint64_t>(std::max(storeys, 0.0F));
  row.has_windows = fraction(storeys) >= 0.45F;
  return row;
}

/// Computes the top of the skyline in every column; returns the highest row.
float Sky::find_tops(const Skyline& skyline, const Camera& camera) {
  float highest = camera.horizon;
  for (std::size_t x = 0; x < tops_.size(); ++x) {
    // Small angle: the angle equals its tangent.
    const double turns = (camera.sine + (static_cast<double>(x) + 0.5 - camera.centre) / camera.focal) / 6.2831853;
    const auto at = static_cast<std::size_t>(coordinate(turns) >> 20);
    tops_[x] = camera.horizon - camera.focal * skyline.height[at];
    places_[x] = static_cast<std::uint16_t>(at);
    highest = std::min(highest, tops_[x]);
  }
  return highest;
}

void Sky::draw_skyline(Canvas& canvas, const World& world) {
  const Camera& camera = world.camera;
  const int end = std::clamp(static_cast<int>(std::floor(camera.horizon + 0.5F)), 0, canvas.height);
  for (const Skyline& skyline : skylines_) {
    const int first = std::max(static_cast<int>(std::floor(find_tops(skyline, camera))), 0);
    for (int y = first; y < end; ++y) {
      const float centre = static_cast<float>(y) + 0.5F;
      const WallRow row = wall_row(skyline, (camera.horizon - centre) / camera.focal, world);
      std::uint16_t* out = &canvas.colour[static_cast<std::size_t>(y) * tops_.size() * 3];
      for (std::size_t x = 0; x < tops_.size(); ++x, out += 3) {
        if (centre < tops_[x]) continue;
        const std::array<int, 3>* colour = &row.wall;
        const std::size_t at = places_[x];
        if (row.has_windows && skyline.windows[at] != 0 && at % 4 < 2)
          colour = mix(seed_ + skyline.windows[at], at / 4 * 256 + row.storey) % 5 < 2 ? &row.lit : &row.dark;
        for (std::size_t c = 0; c < 3; ++c) out[c] = static_cast<std::uint16_t>((*colour)[c]);
      }
    }
  }
}

}  // namespace saccade::scene
