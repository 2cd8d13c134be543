#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "scene/mesh.hpp"
#include "scene/options.hpp"

namespace saccade::scene {

/// Where the camera stands in its rig, which glides forward over the ground: z and x are the rig's, y is height.
struct Camera {
  float focal = 0;    ///< pixels
  float centre = 0;   ///< column of the axis
  float horizon = 0;  ///< row of the horizon; the image's plane stays upright
  float height = 0;   ///< metres above the ground
  float sine = 0;     ///< of the yaw
  float cosine = 1;
  double travel = 0;  ///< metres that the rig has gone

  /// A point of the rig as the camera sees it: x right, y up from the camera, z along the axis.
  Vec3 view(const Vec3& p) const { return {cosine * p.x - sine * p.z, p.y - height, sine * p.x + cosine * p.z}; }
};

struct Light {
  Vec3 to_sun;  ///< unit
  Vec3 sun;     ///< colour times strength; what a white face turned to it gives, 1 being well exposed
  Vec3 ambient;
  Vec3 zenith;  ///< of the sky
  Vec3 haze;    ///< of the sky at the horizon, and of what is far
  float lamps = 0;
  float shadow = 1;  ///< how dark: share of the sun that is kept away
};

/// How much of what is DEPTH metres away is lost in the haze.
constexpr float haze_at(float depth) { return depth * depth / (depth * depth + 75.0F * 75.0F); }

/// One mesh somewhere.
struct Instance {
  std::int32_t identity = 0;  ///< 0: a prop
  int class_id = 0;
  const Mesh* mesh = nullptr;
  int pattern = 0;
  Vec3 position;  ///< of the mesh's pivot
  Rotation turn;
  float scale = 1;
  float swing = 0;  ///< of limbs, turns
  Vec3 velocity;    ///< in the rig, metres a second
  Vec3 glow;        ///< light of lamps that reaches it
  std::array<Vec3, kMaterials> colours;
  Vec3 second;  ///< the body's second colour
};

/// A pool of lamp light on the ground.
struct Pool {
  Vec3 position;
  float radius = 0;
};

/// Everything that one frame shows.
struct World {
  double time = 0;
  Camera camera;
  float yaw_speed = 0;      ///< turns a second
  float horizon_speed = 0;  ///< pixels per second
  Light light;
  int place = 0;
  float night = 0;
  float blur = 0;
  float noise = 0;
  std::vector<Instance> instances;  ///< objects by identity, then props
  std::vector<Pool> pools;
};

/// Finds the world of a frame from the options and the frame's number alone.
class WorldMaker {
 public:
  explicit WorldMaker(const SceneOptions& options);
  /// Fills WORLD, whose storage is used again.
  void make(std::int64_t frame, World& world) const;

 private:
  void set_camera(World& world) const;
  void set_light(World& world) const;
  void add_objects(World& world) const;
  void add_props(World& world) const;
  void add_prop(World& world, std::int64_t column, std::int64_t row) const;

  SceneOptions options_;
  int place_;
  std::vector<Mesh> objects_;
  std::vector<Mesh> props_;
};

}  // namespace saccade::scene
