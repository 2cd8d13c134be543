#pragma once

#include <span>

#include "scene/mesh.hpp"

namespace saccade::scene {

/// Half of a lathe's outline.
struct Outline {
  float radius;
  float along;
};

/// Puts a mesh together from solids of revolution and blocks.
class MeshBuilder {
 public:
  /// Following solids are of this material and limb.
  MeshBuilder& of(Material material, Limb limb = Limb::kNone);
  /// Turns OUTLINE about an axis through CENTRE: y, or x where SIDEWAYS. SMOOTH: normals run over the outline's edges.
  MeshBuilder& lathe(std::span<const Outline> outline, int segments, const Vec3& centre, bool smooth = true,
                     bool sideways = false);
  MeshBuilder& ball(const Vec3& centre, const Vec3& radii, int rings, int segments);
  /// A ball whose surface is moved in and out by up to SHARE of its radius.
  MeshBuilder& lump(const Vec3& centre, const Vec3& radii, int rings, int segments, float share, std::uint64_t key);
  /// A block whose top is moved by SHIFT in z and whose width and length shrink there to the shares TAPER_X, TAPER_Z.
  MeshBuilder& block(const Vec3& low, const Vec3& high, float taper_x = 1, float taper_z = 1, float shift = 0);
  /// Sides of MATERIAL with a top of the material in force: a car's cabin.
  MeshBuilder& cabin(const Vec3& low, const Vec3& high, float taper_x, float taper_z, float shift, Material sides);
  /// Takes the mesh, which turns about PIVOT.
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
