#include "scene/scene.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "base/error.hpp"
#include "scene/exposure.hpp"
#include "scene/ground.hpp"
#include "scene/raster.hpp"
#include "scene/sky.hpp"
#include "scene/world.hpp"

namespace saccade {
namespace {

using namespace scene;

constexpr std::array<std::string_view, kKinds> kClasses = {"ball", "crate", "cone",   "barrel",
                                                           "tyre", "car",   "person", "drone"};
constexpr std::array<std::string_view, 4> kPlaces = {"street", "meadow", "desert", "snow"};

constexpr float kExposure = 0.2F;  // seconds that the shutter is open at blur 1
constexpr float kGrey = 20;        // grey levels of deviation at noise 1

void check(const SceneOptions& options) {
  const auto is_share = [](const std::optional<float>& share) { return !share || (*share >= 0 && *share <= 1); };
  const auto is_side = [](int side) { return side >= 16 && side <= 8192; };
  if (!is_side(options.width) || !is_side(options.height))
    fail(ErrorCode::kInvalidArgument, "a scene of {}x{} pixels can't be drawn; each side must be 16 to 8192",
         options.width, options.height);
  if (options.objects < 0 || options.objects > 500)
    fail(ErrorCode::kInvalidArgument, "a scene has 0 to 500 objects, not {}", options.objects);
  if (!(options.fps >= 0.1 && options.fps <= 1000))
    fail(ErrorCode::kInvalidArgument, "a scene has 0.1 to 1000 frames a second, not {}", options.fps);
  if (options.place && (*options.place < 0 || *options.place >= static_cast<int>(kPlaces.size())))
    fail(ErrorCode::kInvalidArgument, "a scene's place is 0 to {}, not {}", kPlaces.size() - 1, *options.place);
  if (!is_share(options.night) || !is_share(options.blur) || !is_share(options.noise))
    fail(ErrorCode::kInvalidArgument, "a scene's night, blur and noise are 0 to 1");
}

/// One object's pixels, as they are counted.
struct Tally {
  int left = std::numeric_limits<int>::max();
  int top = std::numeric_limits<int>::max();
  int right = 0;
  int bottom = 0;
  std::int64_t pixels = 0;
};

}  // namespace

struct Scene::State {
  explicit State(const SceneOptions& given)
      : options(given),
        maker(given),
        canvas(given.width, given.height),
        shadow{given.width, given.height, {}},
        patterns(make_patterns()) {
    shadow.bytes.resize(canvas.nearness.size());
  }

  /// What only pictures need, made when the first is asked for.
  struct Painter {
    Painter(const SceneOptions& options, int place)
        : ground(place, options.seed, options.width),
          sky(place, options.seed, options.width, options.height),
          exposure(options.width, options.height, options.seed) {}
    Ground ground;
    Sky sky;
    Exposure exposure;
  };

  void clear() {
    std::fill(canvas.nearness.begin(), canvas.nearness.end(), 0.0F);
    std::fill(canvas.instance.begin(), canvas.instance.end(), std::uint16_t{0});
  }
  void cast_shadows();
  void draw_instances();
  void smear();
  void draw_shapes();
  void count_pixels();
  double whole_silhouette(const Instance& instance);
  void fill_maps();

  SceneOptions options;
  WorldMaker maker;
  World world;
  Canvas canvas;
  Mask shadow;
  Mask stamp;
  Projection projection;
  std::vector<Pattern> patterns;
  std::unique_ptr<Painter> painter;
  std::vector<Tally> tallies;
  SceneTruth truth;
};

void Scene::State::cast_shadows() {
  std::fill(shadow.bytes.begin(), shadow.bytes.end(), std::uint8_t{0});
  for (const Instance& instance : world.instances)
    if (projection.project(instance, world, canvas.width, canvas.height, true) &&
        projection.cast_shadow(world, canvas.width, canvas.height))
      cover(shadow, projection, *instance.mesh);
}

void Scene::State::draw_instances() {
  for (std::size_t i = 0; i < world.instances.size(); ++i) {
    const Instance& instance = world.instances[i];
    if (!projection.project(instance, world, canvas.width, canvas.height, false)) continue;
    projection.shade(instance, world);
    draw(canvas, projection, instance, patterns[static_cast<std::size_t>(instance.pattern)], static_cast<int>(i) + 1,
         world);
  }
}

/// Objects smear along their own way through the picture, then the whole picture along the camera's.
void Scene::State::smear() {
  const float open = world.blur * kExposure;
  if (open <= 0) return;
  const Camera& camera = world.camera;
  for (std::size_t i = 0; i < world.instances.size(); ++i) {
    const Instance& instance = world.instances[i];
    if (instance.identity == 0 || !projection.project(instance, world, canvas.width, canvas.height, false)) continue;
    const Vec3 at = camera.view(instance.position);
    const Vec3 way = camera.view(instance.velocity + Vec3{0, camera.height, 0});
    const Streak streak{open * camera.focal * (way.x - way.z * at.x / at.z) / at.z,
                        open * camera.focal * (way.z * at.y / at.z - way.y) / at.z};
    const auto bounded = [](float value, int limit) {
      return static_cast<int>(std::clamp(value, 0.0F, static_cast<float>(limit)));
    };
    painter->exposure.smear_instance(canvas, static_cast<int>(i) + 1, streak, bounded(projection.left(), canvas.width),
                                     bounded(projection.top(), canvas.height),
                                     bounded(projection.right() + 1, canvas.width),
                                     bounded(projection.bottom() + 1, canvas.height));
  }
  painter->exposure.smear(canvas, {open * camera.focal * world.yaw_speed, open * world.horizon_speed});
}

void Scene::State::draw_shapes() {
  for (std::size_t i = 0; i < world.instances.size(); ++i)
    if (projection.project(world.instances[i], world, canvas.width, canvas.height, false))
      draw_shape(canvas, projection, world.instances[i], static_cast<int>(i) + 1);
}

void Scene::State::count_pixels() {
  tallies.assign(world.instances.size() + 1, {});
  for (int y = 0; y < canvas.height; ++y) {
    const std::size_t row = static_cast<std::size_t>(y) * static_cast<std::size_t>(canvas.width);
    for (int x = 0; x < canvas.width; ++x) {
      const std::uint16_t index = canvas.instance[row + static_cast<std::size_t>(x)];
      if (index == 0) continue;
      Tally& tally = tallies[index];
      tally.left = std::min(tally.left, x);
      tally.right = std::max(tally.right, x + 1);
      tally.top = std::min(tally.top, y);
      tally.bottom = y + 1;
      ++tally.pixels;
    }
  }
}

/// Pixels that INSTANCE would show with nothing before it and no edge of the frame. What is bigger than the frame is
/// counted at a smaller scale.
double Scene::State::whole_silhouette(const Instance& instance) {
  if (!projection.project(instance, world, canvas.width, canvas.height, true)) return 0;
  const float left = std::floor(projection.left()) - 1;
  const float top = std::floor(projection.top()) - 1;
  const int limit = std::max({canvas.width, canvas.height, 256});
  float scale = 1;
  while (std::max(projection.right() - left, projection.bottom() - top) * scale > static_cast<float>(limit))
    scale *= 0.5F;
  stamp.width = static_cast<int>((projection.right() - left) * scale) + 2;
  stamp.height = static_cast<int>((projection.bottom() - top) * scale) + 2;
  stamp.bytes.assign(static_cast<std::size_t>(stamp.width) * static_cast<std::size_t>(stamp.height), 0);
  projection.fit(left, top, scale);
  cover(stamp, projection, *instance.mesh);
  const auto count = std::count(stamp.bytes.begin(), stamp.bytes.end(), std::uint8_t{1});
  return static_cast<double>(count) / (scale * scale);
}

void Scene::State::fill_maps() {
  const Camera& camera = world.camera;
  truth.identities.resize(canvas.instance.size());
  truth.depth.resize(canvas.instance.size());
  for (int y = 0; y < canvas.height; ++y) {
    const float below = static_cast<float>(y) + 0.5F - camera.horizon;
    const float ground = below > 0 ? camera.focal * camera.height / below : std::numeric_limits<float>::infinity();
    const std::size_t row = static_cast<std::size_t>(y) * static_cast<std::size_t>(canvas.width);
    for (std::size_t i = row; i < row + static_cast<std::size_t>(canvas.width); ++i) {
      const std::uint16_t index = canvas.instance[i];
      truth.identities[i] = index == 0 ? 0 : world.instances[index - 1U].identity;
      truth.depth[i] = index == 0 ? ground : 1.0F / canvas.nearness[i];
    }
  }
}

std::span<const std::string_view> scene_classes() { return kClasses; }
std::span<const std::string_view> scene_places() { return kPlaces; }

Scene::Scene(const SceneOptions& options) {
  check(options);
  state_ = std::make_unique<State>(options);
}
Scene::Scene(Scene&&) noexcept = default;
Scene& Scene::operator=(Scene&&) noexcept = default;
Scene::~Scene() = default;

const SceneOptions& Scene::options() const noexcept { return state_->options; }

void Scene::render(std::int64_t frame, const RgbView& out) {
  State& state = *state_;
  SACCADE_ASSERT(out.width == state.options.width && out.height == state.options.height);
  state.maker.make(frame, state.world);
  if (!state.painter) {
    state.painter = std::make_unique<State::Painter>(state.options, state.world.place);
    state.canvas.colour.resize(state.canvas.nearness.size() * 3);
  }
  state.clear();
  state.cast_shadows();
  state.painter->sky.draw(state.canvas, state.world);
  state.painter->ground.draw(state.canvas, state.shadow, state.world);
  state.draw_instances();
  scene::Exposure::soften(state.canvas);
  state.smear();
  state.painter->exposure.develop(state.canvas, frame, state.world.noise * kGrey, out);
}

const SceneTruth& Scene::truth(std::int64_t frame) {
  State& state = *state_;
  state.maker.make(frame, state.world);
  state.clear();
  state.draw_shapes();
  state.count_pixels();
  SceneTruth& truth = state.truth;
  truth.frame = frame;
  truth.width = state.options.width;
  truth.height = state.options.height;
  truth.place = state.world.place;
  truth.night = state.world.night;
  truth.blur = state.world.blur;
  truth.noise = state.world.noise;
  truth.objects.clear();
  for (std::size_t i = 0; i < state.world.instances.size(); ++i) {
    const Instance& instance = state.world.instances[i];
    const Tally& tally = state.tallies[i + 1];
    if (instance.identity == 0 || tally.pixels == 0) continue;
    SceneObject object{instance.identity, instance.class_id, tally.left,  tally.top,
                       tally.right,       tally.bottom,      tally.pixels};
    const double whole = state.whole_silhouette(instance);
    object.visible_share = static_cast<float>(std::min(1.0, static_cast<double>(tally.pixels) / std::max(whole, 1.0)));
    object.depth = state.world.camera.view(instance.position).z;
    object.ignore = is_ignored(object);
    truth.objects.push_back(object);
  }
  state.fill_maps();
  return truth;
}

}  // namespace saccade
