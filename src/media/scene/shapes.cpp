#include "scene/shapes.hpp"

#include "scene/random.hpp"

namespace saccade::scene {

MeshBuilder& MeshBuilder::of(Material material, Limb limb) {
  material_ = material;
  limb_ = limb;
  return *this;
}

int MeshBuilder::add_vertex(const Vec3& position, const Vec3& normal, float u, float v) {
  mesh_.vertices.push_back({position, normalized(normal), u, v, limb_});
  return static_cast<int>(mesh_.vertices.size()) - 1;
}

/// Corners are clockwise seen from outside (the axes are left-handed), in whatever order they are given: the normals
/// point outwards.
void MeshBuilder::add_triangle(int a, int b, int c, Material material) {
  const auto at = [this](int i) -> const Vertex& { return mesh_.vertices[static_cast<std::size_t>(i)]; };
  const Vec3 face = cross(at(b).position - at(a).position, at(c).position - at(a).position);
  if (dot(face, face) < 1e-12F) return;
  if (dot(face, at(a).normal + at(b).normal + at(c).normal) < 0) std::swap(b, c);
  mesh_.triangles.push_back(
      {{static_cast<std::uint16_t>(a), static_cast<std::uint16_t>(b), static_cast<std::uint16_t>(c)}, material});
}

MeshBuilder& MeshBuilder::lathe(std::span<const Outline> outline, int segments, const Vec3& centre, bool smooth,
                                bool sideways) {
  const auto place = [sideways](float radial_1, float along, float radial_2) {
    return sideways ? Vec3{along, radial_1, radial_2} : Vec3{radial_1, along, radial_2};
  };
  // The normal is the outline's direction rotated by 90 degrees; a smooth one is that of the neighbours' chord.
  const auto normal_of = [&](std::size_t from, std::size_t to) {
    return Outline{outline[to].along - outline[from].along, -(outline[to].radius - outline[from].radius)};
  };
  const std::size_t last = outline.size() - 1;
  for (std::size_t ring = 0; ring < last; ++ring) {
    int previous = -1;
    for (int segment = 0; segment <= segments; ++segment) {
      const double turn = static_cast<double>(segment) / segments;
      const float c = cosine(turn);
      const float s = sine(turn);
      int first = -1;
      for (std::size_t end = ring; end <= ring + 1; ++end) {
        const Outline n =
            smooth ? normal_of(end == 0 ? 0 : end - 1, std::min(end + 1, last)) : normal_of(ring, ring + 1);
        const int index =
            add_vertex(centre + place(outline[end].radius * c, outline[end].along, outline[end].radius * s),
                       place(n.radius * c, n.along, n.radius * s), static_cast<float>(turn),
                       static_cast<float>(end) / static_cast<float>(last));
        if (first < 0) first = index;
      }
      if (previous >= 0) {
        add_triangle(previous, first, previous + 1, material_);
        add_triangle(first, first + 1, previous + 1, material_);
      }
      previous = first;
    }
  }
  return *this;
}

MeshBuilder& MeshBuilder::ball(const Vec3& centre, const Vec3& radii, int rings, int segments) {
  return lump(centre, radii, rings, segments, 0, 0);
}

MeshBuilder& MeshBuilder::lump(const Vec3& centre, const Vec3& radii, int rings, int segments, float share,
                               std::uint64_t key) {
  const int base = static_cast<int>(mesh_.vertices.size());
  for (int ring = 0; ring <= rings; ++ring)
    for (int segment = 0; segment <= segments; ++segment) {
      const double turn = static_cast<double>(segment) / segments;
      const double tilt = 0.5 * ring / rings;
      const Vec3 out = {sine(tilt) * cosine(turn), -cosine(tilt), sine(tilt) * sine(turn)};
      // The two ends of the seam, and the corners of a pole, are one point of the surface.
      const bool pole = ring == 0 || ring == rings;
      const int corner = ring * 64 + (pole ? 0 : segment % segments);
      const float scale = 1.0F + share * (2.0F * Random(key, static_cast<std::uint64_t>(corner)).unit() - 1.0F);
      add_vertex(centre + out * radii * scale, out, static_cast<float>(turn),
                 static_cast<float>(ring) / static_cast<float>(rings));
    }
  for (int ring = 0; ring < rings; ++ring)
    for (int segment = 0; segment < segments; ++segment) {
      const int a = base + ring * (segments + 1) + segment;
      const int b = a + segments + 1;
      add_triangle(a, b, a + 1, material_);
      add_triangle(b, b + 1, a + 1, material_);
    }
  return *this;
}

void MeshBuilder::quad(const std::array<Vec3, 4>& corners, Material material) {
  const Vec3 normal = cross(corners[1] - corners[0], corners[2] - corners[0]);
  constexpr float kU[4] = {0, 1, 1, 0};
  constexpr float kV[4] = {0, 0, 1, 1};
  const int base = static_cast<int>(mesh_.vertices.size());
  for (std::size_t i = 0; i < 4; ++i) add_vertex(corners[i], normal, kU[i], kV[i]);
  add_triangle(base, base + 1, base + 2, material);
  add_triangle(base, base + 2, base + 3, material);
}

MeshBuilder& MeshBuilder::block(const Vec3& low, const Vec3& high, float taper_x, float taper_z, float shift) {
  return cabin(low, high, taper_x, taper_z, shift, material_);
}

MeshBuilder& MeshBuilder::cabin(const Vec3& low, const Vec3& high, float taper_x, float taper_z, float shift,
                                Material sides) {
  const Vec3 middle = (low + high) * 0.5F;
  const Vec3 half = (high - low) * 0.5F;
  const auto corner = [&](float x, float y, float z) {
    const bool top = y > 0;
    return Vec3{middle.x + x * half.x * (top ? taper_x : 1), middle.y + y * half.y,
                middle.z + z * half.z * (top ? taper_z : 1) + (top ? shift : 0)};
  };
  quad({corner(-1, -1, 1), corner(1, -1, 1), corner(1, 1, 1), corner(-1, 1, 1)}, sides);
  quad({corner(1, -1, -1), corner(-1, -1, -1), corner(-1, 1, -1), corner(1, 1, -1)}, sides);
  quad({corner(1, -1, 1), corner(1, -1, -1), corner(1, 1, -1), corner(1, 1, 1)}, sides);
  quad({corner(-1, -1, -1), corner(-1, -1, 1), corner(-1, 1, 1), corner(-1, 1, -1)}, sides);
  quad({corner(-1, 1, 1), corner(1, 1, 1), corner(1, 1, -1), corner(-1, 1, -1)}, material_);
  quad({corner(-1, -1, -1), corner(1, -1, -1), corner(1, -1, 1), corner(-1, -1, 1)}, material_);
  return *this;
}

Mesh MeshBuilder::build(const Vec3& pivot) {
  mesh_.pivot = pivot;
  for (const Vertex& vertex : mesh_.vertices) {
    const Vec3 arm = vertex.position - pivot;
    mesh_.radius = std::max(mesh_.radius, std::sqrt(dot(arm, arm)));
  }
  mesh_.radius *= 1.05F;
  return std::move(mesh_);
}

}  // namespace saccade::scene
