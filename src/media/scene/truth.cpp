#include <algorithm>
#include <limits>

#include "scene/state.hpp"

namespace saccade {
namespace {

constexpr int kMostStamp = 2048;  // pixels per side

}  // namespace

using namespace scene;

void Scene::State::draw_shapes() {
  for (std::size_t i = 0; i < world.instances.size(); ++i)
    if (projection.project(world.instances[i], world, canvas.width, canvas.height, false))
      draw_shape(canvas, projection, world.instances[i], static_cast<int>(i) + 1);
}

void Scene::State::count_pixels() {
  tallies.reserve(world.instances.capacity() + 1);
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

/// The pixel count of INSTANCE without occlusion and without the frame's edges. Silhouettes larger than the frame are
/// counted at a smaller scale.
double Scene::State::whole_silhouette(const Instance& instance) {
  if (!projection.project(instance, world, canvas.width, canvas.height, true)) return 0;
  const float left = std::floor(projection.left()) - 1;
  const float top = std::floor(projection.top()) - 1;
  const int limit = std::min(std::max({canvas.width, canvas.height, 256}), kMostStamp);
  stamp.bytes.reserve(static_cast<std::size_t>(limit + 2) * static_cast<std::size_t>(limit + 2));
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

void Scene::State::list_objects() {
  truth.objects.clear();
  truth.objects.reserve(static_cast<std::size_t>(options.objects));
  for (std::size_t i = 0; i < world.instances.size(); ++i) {
    const Instance& instance = world.instances[i];
    const Tally& tally = tallies[i + 1];
    if (instance.identity == 0 || tally.pixels == 0) continue;
    SceneObject object{instance.identity, instance.class_id, tally.left,  tally.top,
                       tally.right,       tally.bottom,      tally.pixels};
    const double whole = whole_silhouette(instance);
    object.visible_share = static_cast<float>(std::min(1.0, static_cast<double>(tally.pixels) / std::max(whole, 1.0)));
    object.depth = world.camera.view(instance.position).z;
    object.ignore = is_ignored(object);
    truth.objects.push_back(object);
  }
}

void Scene::State::find_truth(std::int64_t frame) {
  maker.make(frame, world);
  clear();
  draw_shapes();
  count_pixels();
  list_objects();
  fill_maps();
  truth.frame = frame;
  truth.width = options.width;
  truth.height = options.height;
  truth.place = world.place;
  truth.night = world.night;
  truth.blur = world.blur;
  truth.noise = world.noise;
}

}  // namespace saccade
