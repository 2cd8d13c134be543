#pragma once

#include <limits>
#include <memory>
#include <vector>

#include "scene/exposure.hpp"
#include "scene/ground.hpp"
#include "scene/raster.hpp"
#include "scene/scene.hpp"
#include "scene/sky.hpp"
#include "scene/world.hpp"

namespace saccade {

/// Pixel counts of one object.
struct Tally {
  int left = std::numeric_limits<int>::max();
  int top = std::numeric_limits<int>::max();
  int right = 0;
  int bottom = 0;
  std::int64_t pixels = 0;
};

/// State that only rendering needs.
struct ScenePainter {
  ScenePainter(const SceneOptions& options, int place)
      : ground(place, options.seed, options.width),
        sky(place, options.seed, options.width),
        exposure(options.width, options.height, options.seed) {}
  scene::Ground ground;
  scene::Sky sky;
  scene::Exposure exposure;
};

/// A scene's parts, and the storage shared by its frames. paint.cpp renders images, truth.cpp computes the ground
/// truth.
struct Scene::State {
  explicit State(const SceneOptions& given);

  void render(std::int64_t frame, const RgbView& out);
  void cast_shadows();
  void draw_instances();
  void smear();

  void find_truth(std::int64_t frame);
  void draw_shapes();
  void count_pixels();
  void list_objects();
  double whole_silhouette(const scene::Instance& instance);
  void fill_maps();

  void clear();

  SceneOptions options;
  scene::WorldMaker maker;
  scene::World world;
  scene::Canvas canvas;
  scene::Mask shadow;
  scene::Mask stamp;
  scene::Projection projection;
  std::vector<scene::Pattern> patterns;
  std::unique_ptr<ScenePainter> painter;  // created for the first image
  std::vector<Tally> tallies;             // by index on the canvas
  SceneTruth truth;
};

}  // namespace saccade
