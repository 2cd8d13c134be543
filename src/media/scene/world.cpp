#include "scene/world.hpp"

#include "scene/life.hpp"
#include "scene/random.hpp"

namespace saccade::scene {
namespace {

constexpr float kSpeed = 2.2F;  // of the camera's rig, metres per second
constexpr float kCell = 7.0F;   // metres: cells of the ground with at most one prop each
constexpr float kSeen = 75.0F;  // metres: visible range of props

constexpr std::int64_t kIdentities = INT32_MAX;  // enough for years

enum Place { kStreet, kMeadow, kDesert, kSnow };

struct PropRow {
  Prop prop;
  float share;  ///< of the cells that have it
};
constexpr std::array<std::array<PropRow, 4>, 4> kPropsOf = {{
    {{{Prop::kLamp, 0.07F}, {Prop::kBench, 0.06F}, {Prop::kTree, 0.05F}, {Prop::kBush, 0.06F}}},
    {{{Prop::kBush, 0.10F}, {Prop::kTree, 0.06F}, {Prop::kRock, 0.06F}, {Prop::kLamp, 0.03F}}},
    {{{Prop::kRock, 0.12F}, {Prop::kCactus, 0.08F}, {Prop::kBush, 0.03F}, {Prop::kLamp, 0.03F}}},
    {{{Prop::kPine, 0.12F}, {Prop::kRock, 0.05F}, {Prop::kLamp, 0.04F}, {Prop::kBench, 0.02F}}},
}};

/// A colour from hue, saturation (0 is grey) and value.
Vec3 tint(float hue, float saturation, float value) {
  const auto channel = [&](float shift) {
    const float at = std::abs(fraction(hue + shift) * 6.0F - 3.0F) - 1.0F;
    return value * (1.0F - saturation * (1.0F - std::clamp(at, 0.0F, 1.0F)));
  };
  return {channel(0), channel(2.0F / 3), channel(1.0F / 3)};
}

Vec3 any_colour(Random& random) {
  const float hue = random.unit();
  const float saturation = random.unit();
  const float value = random.between(0.25F, 1.0F);
  const Vec3 c = tint(hue, saturation * (2 - saturation), value);
  return c * c * 0.85F;  // approximate conversion from gamma to linear light
}

void paint_object(Random& random, Kind kind, Instance& instance) {
  const auto set = [&](Material material, const Vec3& colour) {
    instance.colours[static_cast<std::size_t>(material)] = colour;
  };
  const Vec3 body = any_colour(random);
  set(Material::kBody, body);
  // The second colour contrasts with the first: lighter or darker.
  const float grey = dot(body, {0.3F, 0.6F, 0.1F});
  const float level = grey > 0.3F ? random.between(0.02F, 0.12F) : random.between(0.5F, 0.85F);
  const float second_hue = random.unit();
  const Vec3 hue = tint(second_hue, 0.5F * random.unit(), 1);
  instance.second = kind == Kind::kCrate ? body * random.between(0.35F, 0.6F) : hue * level;
  set(Material::kTrim, kind == Kind::kTyre ? Vec3{0.5F, 0.5F, 0.52F} * random.between(0.4F, 1.3F) : any_colour(random));
  const float dark = random.between(0.015F, 0.06F);
  set(Material::kDark, {dark, dark, dark * 1.1F});
  set(Material::kGlass, Vec3{0.10F, 0.15F, 0.2F} * random.between(0.4F, 1.2F));
  set(Material::kSkin, Vec3{0.62F, 0.4F, 0.28F} * random.between(0.25F, 1.1F));
  set(Material::kPale, Vec3{0.5F, 0.52F, 0.55F} * random.between(0.5F, 1.0F));
  set(Material::kLamp, {0.8F, 0.78F, 0.7F});
}

void paint_prop(Random& random, Prop prop, int place, Instance& instance) {
  constexpr Vec3 kStone{0.3F, 0.28F, 0.25F};
  constexpr Vec3 kLeaf{0.1F, 0.22F, 0.05F};
  constexpr Vec3 kNeedle{0.04F, 0.13F, 0.08F};
  constexpr Vec3 kWood{0.3F, 0.17F, 0.08F};
  Vec3 body = kStone;
  if (prop == Prop::kBush || prop == Prop::kTree || prop == Prop::kCactus) body = kLeaf;
  if (prop == Prop::kPine) body = kNeedle;
  if (prop == Prop::kBench) body = kWood;
  if (prop == Prop::kRock && place == kDesert) body = {0.42F, 0.24F, 0.14F};
  body = body * Vec3{random.between(0.7F, 1.4F), random.between(0.8F, 1.3F), random.between(0.7F, 1.4F)};
  instance.colours.fill(body);
  instance.second = place == kSnow && prop != Prop::kBench ? Vec3{0.7F, 0.75F, 0.8F} : body * 0.45F;
  instance.colours[static_cast<std::size_t>(Material::kDark)] =
      prop == Prop::kTree || prop == Prop::kPine ? kWood * 0.5F : Vec3{0.05F, 0.05F, 0.055F};
  instance.colours[static_cast<std::size_t>(Material::kLamp)] = {0.8F, 0.75F, 0.6F};
}

/// Oscillates between 0 and 1, flat at both ends.
float cycle(double time, double period, double phase) {
  return smooth_step(0.22F, 0.78F, 0.5F + 0.5F * sine(time / period + phase));
}

}  // namespace

WorldMaker::WorldMaker(const SceneOptions& options)
    : options_(options), objects_(make_object_meshes()), props_(make_prop_meshes()) {
  constexpr auto kPlaces = static_cast<int>(kPropsOf.size());
  place_ = options.place ? *options.place : Random(options.seed, 0x91ace).below(kPlaces);
}

void WorldMaker::make(std::int64_t frame, World& world) const {
  world.time = static_cast<double>(frame) / options_.fps;
  world.place = place_;
  world.instances.clear();
  world.pools.clear();
  set_camera(world);
  set_light(world);
  add_objects(world);
  add_props(world);
}

void WorldMaker::set_camera(World& world) const {
  Random random(options_.seed, 0xca3e4a);
  Camera& camera = world.camera;
  const auto width = static_cast<float>(options_.width);
  const auto height = static_cast<float>(options_.height);
  const float side = std::sqrt(width * height);
  camera.focal = side * random.between(0.9F, 1.05F);
  camera.centre = 0.5F * width;
  camera.height = random.between(2.6F, 3.8F);
  camera.height += 0.2F * sine(world.time / 17 + random.unit());
  const double period = random.between(9.0F, 14.0F);
  const double pan = world.time / period + random.unit();
  constexpr float kPan = 0.016F;  // turns
  const float yaw = kPan * sine(pan);
  camera.sine = sine(yaw);
  camera.cosine = cosine(yaw);
  constexpr float kTurn = 6.2831853F;
  world.yaw_speed = kPan * kTurn * cosine(pan) / static_cast<float>(period);
  double nod = world.time / 6.3;
  nod += random.unit();
  const float base = height * random.between(0.3F, 0.38F);
  camera.horizon = base + 0.012F * height * sine(nod);
  world.horizon_speed = 0.012F * height * cosine(nod);
  camera.travel = kSpeed * world.time + 1000 * random.unit();
}

void WorldMaker::set_light(World& world) const {
  Random random(options_.seed, 0x11947);
  const double time = world.time;
  const float night_phase = random.unit();
  const float blur_phase = random.unit();
  world.night = options_.night ? *options_.night : cycle(time, 40, night_phase);
  world.blur = options_.blur ? *options_.blur : 0.7F * cycle(time, 23, blur_phase);
  const float n = world.night;
  world.noise = options_.noise ? *options_.noise : 0.1F + 0.25F * n;

  const double azimuth = random.unit() + time / 400;
  const float height = lerp(random.between(0.55F, 1.1F), 0.42F, smooth_step(0, 0.6F, n));
  Light& light = world.light;
  light.to_sun = normalized({cosine(azimuth), height, sine(azimuth)});
  const float dusk = smooth_step(0.05F, 0.5F, n);
  const float dark = smooth_step(0.4F, 1.0F, n);
  // Clouds pass before the sun.
  const float slow = sine(time / 7.3 + random.unit());
  const float quick = sine(time / 3.1 + random.unit());
  const float gain = 0.92F + 0.12F * slow + 0.06F * quick;
  const auto blend = [&](const Vec3& day, const Vec3& evening, const Vec3& moon) {
    return lerp(lerp(day, evening, dusk), moon, dark);
  };
  light.sun = blend({1.25F, 1.17F, 1.05F}, {0.85F, 0.5F, 0.28F}, {0.13F, 0.16F, 0.25F}) * gain;
  light.ambient = blend({0.42F, 0.47F, 0.56F}, {0.27F, 0.25F, 0.34F}, {0.085F, 0.10F, 0.165F});
  light.zenith = blend({0.18F, 0.38F, 0.80F}, {0.14F, 0.16F, 0.38F}, {0.006F, 0.011F, 0.035F});
  light.haze = blend({0.72F, 0.80F, 0.90F}, {0.80F, 0.45F, 0.26F}, {0.03F, 0.045F, 0.09F});
  light.lamps = smooth_step(0.3F, 0.7F, n);
}

void WorldMaker::add_objects(World& world) const {
  const auto pixels = static_cast<float>(options_.width) * static_cast<float>(options_.height);
  const Sight sight{world.camera.focal, world.camera.centre, std::sqrt(pixels) / 554.26F, kSpeed};
  for (int slot = 0; slot < options_.objects; ++slot) {
    const Life life = life_at(options_.seed, slot, options_.objects, world.time);
    Random random(life.key, 0xb0d7);
    const int class_id = random.below(kKinds);
    const auto kind = static_cast<Kind>(class_id);
    const Mesh& mesh = objects_[static_cast<std::size_t>(class_id)];
    const Pose pose = pose_of(life, kind, mesh, sight);
    Instance instance;
    instance.identity = static_cast<std::int32_t>((slot + options_.objects * life.number) % kIdentities + 1);
    instance.class_id = class_id;
    instance.mesh = &mesh;
    instance.pattern = class_id;
    instance.position = pose.position;
    instance.turn = pose.turn;
    instance.scale = pose.scale;
    instance.swing = pose.swing;
    instance.velocity = pose.velocity;
    paint_object(random, kind, instance);
    world.instances.push_back(instance);
  }
  std::sort(world.instances.begin(), world.instances.end(),
            [](const Instance& a, const Instance& b) { return a.identity < b.identity; });
}

void WorldMaker::add_props(World& world) const {
  const auto first = static_cast<std::int64_t>(std::floor((world.camera.travel - 2) / kCell));
  const auto last = static_cast<std::int64_t>(std::floor((world.camera.travel + kSeen) / kCell));
  const float spread = kSeen * (world.camera.centre / world.camera.focal + 0.2F);
  const auto columns = static_cast<std::int64_t>(spread / kCell) + 1;
  // Storage for a prop in every cell, so that later frames do not allocate.
  const auto cells = static_cast<std::size_t>((kSeen + 2) / kCell + 2) * static_cast<std::size_t>(2 * columns);
  world.instances.reserve(static_cast<std::size_t>(options_.objects) + cells);
  world.pools.reserve(cells);
  for (std::int64_t row = first; row <= last; ++row)
    for (std::int64_t column = -columns; column < columns; ++column) add_prop(world, column, row);
  // Lamps light nearby objects.
  for (Instance& instance : world.instances)
    for (const Pool& pool : world.pools) {
      const Vec3 away = instance.position - pool.position;
      const float near = 1 - (away.x * away.x + away.z * away.z) / (pool.radius * pool.radius);
      if (near > 0) instance.glow = instance.glow + Vec3{1.0F, 0.8F, 0.5F} * (0.7F * near * near * world.light.lamps);
    }
}

void WorldMaker::add_prop(World& world, std::int64_t column, std::int64_t row) const {
  const auto cell = mix(static_cast<std::uint64_t>(column), static_cast<std::uint64_t>(row));
  Random random(mix(options_.seed, 0x9409), cell);
  float draw = random.unit();
  const auto& rows = kPropsOf[static_cast<std::size_t>(place_)];
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const PropRow& r) { return (draw -= r.share) < 0; });
  if (found == rows.end()) return;
  const float x = (static_cast<float>(column) + random.unit()) * kCell;
  const auto z = static_cast<float>((static_cast<double>(row) + random.unit()) * kCell - world.camera.travel);
  if (std::abs(x) < 3.2F || z < 0.5F) return;
  const auto index = static_cast<std::size_t>(found->prop);
  Instance prop;
  prop.mesh = &props_[index];
  prop.pattern = kKinds + static_cast<int>(index);
  prop.position = {x, 0, z};
  prop.turn =
      found->prop == Prop::kLamp && x > 0 ? about_y(0.5) : about_y(found->prop == Prop::kLamp ? 0 : random.unit());
  // Props enter at the edge of the world by growing, a few pixels high.
  prop.scale = random.between(0.7F, 1.3F) * std::clamp((kSeen - z) / 8, 0.02F, 1.0F);
  paint_prop(random, found->prop, place_, prop);
  world.instances.push_back(prop);
  if (found->prop == Prop::kLamp) {
    const float reach = x > 0 ? -0.75F : 0.75F;
    world.pools.push_back({{x + reach * prop.scale, 0, z}, 4.5F * prop.scale});
  }
}

}  // namespace saccade::scene
