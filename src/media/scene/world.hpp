#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "scene/mesh.hpp"
#include "scene/options.hpp"

namespace saccade::scene {

/// The camera's position in its rig, which moves forward over the ground: z and x are the rig's, y is height.
struct Camera {
  float focal = 0;    ///< pixels
  float centre = 0;   ///< column of the optical axis
  float horizon = 0;  ///< row of the horizon; the camera has no roll or pitch
  float height = 0;   ///< metres above the ground
  float sine = 0;     ///< of the yaw
  float cosine = 1;
  double travel = 0;  ///< metres travelled by the rig

  /// A point of the rig in camera coordinates: x right, y up from the camera, z along the axis.
  Vec3 view(const Vec3& p) const { return {cosine * p.x - sine * p.z, p.y - height, sine * p.x + cosine * p.z}; }
};

struct Light {
  Vec3 to_sun;  ///< unit
  Vec3 sun;     ///< colour times intensity, the light of a white face that is turned to it; 1 is well exposed
  Vec3 ambient;
  Vec3 zenith;  ///< of the sky
  Vec3 haze;    ///< colour of the sky at the horizon, and of distant objects
  float lamps = 0;
  float shadow = 1;  ///< darkness: share of sunlight that is blocked
};

/// The weight of the haze at DEPTH metres.
constexpr float haze_at(float depth) { return depth * depth / (depth * depth + 75.0F * 75.0F); }

/// A placed mesh.
struct Instance {
  std::int32_t identity = 0;  ///< 0: a prop
  int class_id = 0;
  const Mesh* mesh = nullptr;
  int pattern = 0;
  Vec3 position;  ///< of the mesh's pivot
  Rotation turn;
  float scale = 1;
  float swing = 0;  ///< phase of limbs, in turns
  Vec3 velocity;    ///< in the rig, metres per second
  Vec3 glow;        ///< light of lamps on it
  std::array<Vec3, kMaterials> colours;
  Vec3 second;  ///< the body's second colour
};

/// A pool of lamp light on the ground.
struct Pool {
  Vec3 position;
  float radius = 0;
};

/// Everything visible in one frame.
struct World {
  double time = 0;
  Camera camera;
  float yaw_speed = 0;      ///< turns per second
  float horizon_speed = 0;  ///< pixels per second
  Light light;
  int place = 0;
  float night = 0;
  float blur = 0;
  float noise = 0;
  std::vector<Instance> instances;  ///< objects by identity, then props
  std::vector<Pool> pools;
};

/// Computes the world of a frame from the options and the frame's number alone.
class WorldMaker {
 public:
  explicit WorldMaker(const SceneOptions& options);
  /// Fills WORLD, reusing its storage.
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
