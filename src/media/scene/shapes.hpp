#pragma once

#include <span>

#include "scene/mesh.hpp"

namespace saccade::scene {

/// A point of the outline of a solid of revolution.
struct Outline {
  float radius;
  float along;
};

/// Builds a mesh from solids of revolution and blocks.
class MeshBuilder {
 public:
  /// Sets material and limb of the following solids.
  MeshBuilder& of(Material material, Limb limb = Limb::kNone);
  /// Revolves OUTLINE about an axis through CENTRE: y, or x if SIDEWAYS. SMOOTH: normals are interpolated across edges.
  MeshBuilder& lathe(std::span<const Outline> outline, int segments, const Vec3& centre, bool smooth = true,
                     bool sideways = false);
  MeshBuilder& ball(const Vec3& centre, const Vec3& radii, int rings, int segments);
  /// A sphere whose surface is displaced by up to SHARE of its radius.
  MeshBuilder& lump(const Vec3& centre, const Vec3& radii, int rings, int segments, float share, std::uint64_t key);
  /// A block whose top is shifted by SHIFT in z and scaled by TAPER_X and TAPER_Z.
  MeshBuilder& block(const Vec3& low, const Vec3& high, float taper_x = 1, float taper_z = 1, float shift = 0);
  /// Sides of MATERIAL with a top of the current material: a car's cabin.
  MeshBuilder& cabin(const Vec3& low, const Vec3& high, float taper_x, float taper_z, float shift, Material sides);
  /// Returns the mesh, which rotates about PIVOT.
  Mesh build(const Vec3& pivot);

 private:
  void quad(const std::array<Vec3, 4>& corners, Material material);
  void add_triangle(int a, int b, int c, Material material);
  int add_vertex(const Vec3& position, const Vec3& normal, float u, float v);

  Mesh mesh_;
  Material material_ = Material::kBody;
  Limb limb_ = Limb::kNone;
};

}  // namespace saccade::scene
