#include <algorithm>

#include "scene/state.hpp"

namespace saccade {
namespace {

constexpr float kExposure = 0.2F;  // seconds of exposure at blur 1
constexpr float kGrey = 20;        // standard deviation in grey levels at noise 1

}  // namespace

using namespace scene;

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

/// Objects are blurred along their own motion in the image, then the whole image along the camera's.
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

void Scene::State::render(std::int64_t frame, const RgbView& out) {
  maker.make(frame, world);
  if (!painter) {
    painter = std::make_unique<ScenePainter>(options, world.place);
    canvas.add_colour();
  }
  clear();
  cast_shadows();
  painter->sky.draw(canvas, world);
  painter->ground.draw(canvas, shadow, world);
  draw_instances();
  Exposure::soften(canvas);
  smear();
  painter->exposure.develop(canvas, frame, world.noise * kGrey, out);
}

}  // namespace saccade
