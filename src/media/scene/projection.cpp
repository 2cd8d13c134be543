#include <algorithm>
#include <limits>

#include "scene/raster.hpp"

namespace saccade::scene {
namespace {

constexpr float kNear = 0.6F;  // metres: near clipping plane

/// The phase of a limb's swing, and the height of its hinge.
struct Hinge {
  float sign;
  float height;
};
constexpr Hinge hinge_of(Limb limb) {
  switch (limb) {
    case Limb::kLeftLeg: return {1, 0.88F};
    case Limb::kRightLeg: return {-1, 0.88F};
    case Limb::kLeftArm: return {-0.9F, 1.42F};
    case Limb::kRightArm: return {0.9F, 1.42F};
    default: return {0, 0};
  }
}

}  // namespace

bool Projection::project(const Instance& instance, const World& world, int width, int height, bool whole) {
  const Camera& camera = world.camera;
  instance_ = &instance;
  const Mesh& mesh = *instance.mesh;
  const Vec3 centre = camera.view(instance.position);
  const float reach = mesh.radius * instance.scale;
  if (centre.z - reach < kNear) return false;
  if (!whole) {
    const float wide = (std::abs(centre.x) - reach) * camera.focal - camera.centre * (centre.z + reach);
    if (wide > 0) return false;
  }
  points_.resize(mesh.vertices.size());
  normals_.resize(mesh.vertices.size());
  corners_.resize(mesh.vertices.size());
  std::array<Rotation, 5> limb{};
  for (int i = 1; i < 5; ++i)
    limb[static_cast<std::size_t>(i)] = about_x(instance.swing * hinge_of(static_cast<Limb>(i)).sign);
  const bool swings = instance.swing != 0;
  for (std::size_t i = 0; i < mesh.vertices.size(); ++i) {
    const Vertex& vertex = mesh.vertices[i];
    Vec3 p = vertex.position;
    Vec3 n = vertex.normal;
    if (swings && vertex.limb != Limb::kNone) {
      const Vec3 hinge{0, hinge_of(vertex.limb).height, 0};
      p = limb[static_cast<std::size_t>(vertex.limb)](p - hinge) + hinge;
      n = limb[static_cast<std::size_t>(vertex.limb)](n);
    }
    points_[i] = instance.turn((p - mesh.pivot) * instance.scale) + instance.position;
    normals_[i] = instance.turn(n);
    const Vec3 seen = camera.view(points_[i]);
    Corner& corner = corners_[i];
    corner.nearness = 1.0F / seen.z;
    corner.x = camera.centre + camera.focal * seen.x * corner.nearness;
    corner.y = camera.horizon - camera.focal * seen.y * corner.nearness;
    corner.u = vertex.u * kPatternSize;
    corner.v = vertex.v * kPatternSize;
  }
  bound();
  return whole || (right_ > 0 && left_ < static_cast<float>(width) && bottom_ > 0 && top_ < static_cast<float>(height));
}

void Projection::bound() {
  left_ = top_ = std::numeric_limits<float>::max();
  right_ = bottom_ = std::numeric_limits<float>::lowest();
  for (const Corner& corner : corners_) {
    left_ = std::min(left_, corner.x);
    right_ = std::max(right_, corner.x);
    top_ = std::min(top_, corner.y);
    bottom_ = std::max(bottom_, corner.y);
  }
}

void Projection::shade(const Instance& instance, const World& world) {
  const Light& light = world.light;
  for (std::size_t i = 0; i < corners_.size(); ++i) {
    const Vec3& n = normals_[i];
    const float facing = std::max(dot(n, light.to_sun), 0.0F);
    const float open = 0.62F + 0.38F * n.y;  // ambient light: sky from above, ground from below
    corners_[i].light = light.ambient * open + light.sun * facing + instance.glow * (0.6F + 0.4F * n.y);
  }
}

bool Projection::cast_shadow(const World& world, int width, int height) {
  const Camera& camera = world.camera;
  const Vec3& sun = world.light.to_sun;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const float along = std::max(points_[i].y, 0.0F) / sun.y;
    const Vec3 seen = camera.view({points_[i].x - sun.x * along, 0, points_[i].z - sun.z * along});
    if (seen.z < kNear) return false;
    corners_[i].nearness = 1.0F / seen.z;
    corners_[i].x = camera.centre + camera.focal * seen.x * corners_[i].nearness;
    corners_[i].y = camera.horizon - camera.focal * seen.y * corners_[i].nearness;
  }
  bound();
  return right_ > 0 && left_ < static_cast<float>(width) && bottom_ > 0 && top_ < static_cast<float>(height);
}

void Projection::fit(float left, float top, float scale) {
  for (Corner& corner : corners_) {
    corner.x = (corner.x - left) * scale;
    corner.y = (corner.y - top) * scale;
  }
}

}  // namespace saccade::scene
