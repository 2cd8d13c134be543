#include "scene/raster.hpp"

#include <algorithm>

namespace saccade::scene {
namespace {

/// A triangle's edges, traversed row by row. Edges run from their upper end, so that neighbours share them bit-exactly
/// and every pixel of a mesh is drawn exactly once.
class Spans {
 public:
  Spans(const Corner& a, const Corner& b, const Corner& c) : p_{&a, &b, &c} {
    if (p_[1]->y < p_[0]->y) std::swap(p_[0], p_[1]);
    if (p_[2]->y < p_[1]->y) std::swap(p_[1], p_[2]);
    if (p_[1]->y < p_[0]->y) std::swap(p_[0], p_[1]);
    for (int i = 0; i < 3; ++i) {
      const Corner& from = *p_[i == 2 ? 1 : 0];
      const Corner& to = *p_[i == 0 ? 1 : 2];
      const float rise = to.y - from.y;
      slope_[i] = rise > 0 ? (to.x - from.x) / rise : 0;
    }
  }

  int first_row() const { return first_inside(p_[0]->y); }
  int end_row() const { return first_inside(p_[2]->y); }

  /// Columns [FIRST, END) of row Y, not clipped.
  void row(int y, int& first, int& end) const {
    const float at = static_cast<float>(y) + 0.5F;
    const float whole = p_[0]->x + (at - p_[0]->y) * slope_[1];
    const float part = at < p_[1]->y ? p_[0]->x + (at - p_[0]->y) * slope_[0] : p_[1]->x + (at - p_[1]->y) * slope_[2];
    first = first_inside(std::min(whole, part));
    end = first_inside(std::max(whole, part));
  }

 private:
  /// The first pixel whose centre is at or after AT.
  static int first_inside(float at) {
    const float bounded = std::clamp(at - 0.5F, -32768.0F, 32768.0F);
    const int down = static_cast<int>(bounded);
    return down + (static_cast<float>(down) < bounded ? 1 : 0);
  }

  const Corner* p_[3];
  float slope_[3] = {};  // of 0-1, 0-2, 1-2
};

/// A value that is linear over a triangle.
struct Plane {
  float base = 0;
  float dx = 0;
  float dy = 0;
  float at(float x, float y) const { return base + x * dx + y * dy; }
};

/// Computes planes from values at the three corners.
class Slopes {
 public:
  Slopes(const Corner& a, const Corner& b, const Corner& c)
      : x_(a.x), y_(a.y), bx_(b.x - a.x), by_(b.y - a.y), cx_(c.x - a.x), cy_(c.y - a.y) {
    area_ = bx_ * cy_ - cx_ * by_;
  }
  /// Twice the signed area; positive if the corners are clockwise in the image: a front face.
  float area() const { return area_; }
  Plane plane(float a, float b, float c) const {
    const float over = 1.0F / area_;
    Plane plane;
    plane.dx = ((b - a) * cy_ - (c - a) * by_) * over;
    plane.dy = ((c - a) * bx_ - (b - a) * cx_) * over;
    plane.base = a - x_ * plane.dx - y_ * plane.dy;
    return plane;
  }

 private:
  float x_, y_, bx_, by_, cx_, cy_, area_;
};

constexpr float kSliver = 1e-4F;  // square pixels: smaller triangles contain no relevant pixel centre

/// A front-facing triangle.
struct Face {
  const Corner& a;
  const Corner& b;
  const Corner& c;
  Slopes slopes;
  Material material;

  /// Calls DRAW(y, first, end) for each row of covered pixels, clipped to WIDTH x HEIGHT.
  template <typename Draw>
  void for_each_row(int width, int height, Draw&& draw_row) const {
    const Spans spans(a, b, c);
    const int end_row = std::min(spans.end_row(), height);
    for (int y = std::max(spans.first_row(), 0); y < end_row; ++y) {
      int first = 0;
      int end = 0;
      spans.row(y, first, end);
      first = std::max(first, 0);
      end = std::min(end, width);
      if (first < end) draw_row(y, first, end);
    }
  }
};

template <typename Draw>
void for_each_face(const Mesh& mesh, std::span<const Corner> corners, Draw&& draw_face) {
  for (const Triangle& triangle : mesh.triangles) {
    const Corner& a = corners[triangle.corner[0]];
    const Corner& b = corners[triangle.corner[1]];
    const Corner& c = corners[triangle.corner[2]];
    const Slopes slopes(a, b, c);
    if (slopes.area() > kSliver) draw_face(Face{a, b, c, slopes, triangle.material});
  }
}

struct Paint {
  std::array<int, 3> colour{};  ///< 0..kOne at light 1
  std::array<int, 3> toward{};  ///< added at full weight (255) of the second colour
  bool is_lit = true;
};

constexpr int fixed(float value) { return static_cast<int>(std::clamp(value, -4.0F, 4.0F) * kOne); }

Paint paint_of(const Instance& instance, Material material, const World& world) {
  const Vec3& colour = instance.colours[static_cast<std::size_t>(material)];
  Paint paint;
  if (material == Material::kLamp) {
    const Vec3 shine =
        lerp(colour * (world.light.ambient + world.light.sun * 0.4F), Vec3{2.6F, 2.3F, 1.6F}, world.light.lamps);
    paint.colour = {fixed(shine.x), fixed(shine.y), fixed(shine.z)};
    paint.is_lit = false;
    return paint;
  }
  paint.colour = {fixed(colour.x), fixed(colour.y), fixed(colour.z)};
  if (material == Material::kBody) {
    const Vec3 toward = instance.second - colour;
    paint.toward = {fixed(toward.x), fixed(toward.y), fixed(toward.z)};
  }
  return paint;
}

/// The destination of a row of pixels.
struct Row {
  float* nearness;
  std::uint16_t* instance;
  std::uint16_t* colour;
  int count;
};

/// Fills one face: depth test, pattern, light, haze. Linear values are stepped in fixed point from each row's start.
class Shader {
 public:
  Shader(const Face& face, const Paint& paint, const Pattern& pattern, const std::array<int, 3>& haze, int clear)
      : paint_(paint),
        pattern_(pattern),
        haze_(haze),
        clear_(clear),
        nearness_(face.slopes.plane(face.a.nearness, face.b.nearness, face.c.nearness)),
        u_(face.slopes.plane(face.a.u, face.b.u, face.c.u)),
        v_(face.slopes.plane(face.a.v, face.b.v, face.c.v)),
        light_{face.slopes.plane(face.a.light.x, face.b.light.x, face.c.light.x),
               face.slopes.plane(face.a.light.y, face.b.light.y, face.c.light.y),
               face.slopes.plane(face.a.light.z, face.b.light.z, face.c.light.z)} {}

  void fill(float x, float y, std::uint16_t index, const Row& row) const {
    float near = nearness_.at(x, y);
    // Unsigned, so that the steep slopes of slivers wrap.
    std::uint32_t u = fixed_point(u_.at(x, y), 1e5F, kTexel);
    std::uint32_t v = fixed_point(v_.at(x, y), 1e5F, kTexel);
    const std::uint32_t du = fixed_point(u_.dx, 1e3F, kTexel);
    const std::uint32_t dv = fixed_point(v_.dx, 1e3F, kTexel);
    std::array<std::uint32_t, 3> light{};
    std::array<std::uint32_t, 3> step{};
    for (std::size_t c = 0; c < 3; ++c) {
      light[c] = fixed_point(light_[c].at(x, y), 8, kLight);
      step[c] = fixed_point(light_[c].dx, 4, kLight);
    }
    for (std::ptrdiff_t i = 0; i < row.count; ++i) {
      if (near > row.nearness[i]) {
        row.nearness[i] = near;
        row.instance[i] = index;
        set_colour(u >> 10, v >> 10, light, row.colour + 3 * i);
      }
      near += nearness_.dx;
      u += du;
      v += dv;
      for (std::size_t c = 0; c < 3; ++c) light[c] += step[c];
    }
  }

 private:
  static constexpr float kTexel = 1024;
  static constexpr float kLight = 65536;

  static std::uint32_t fixed_point(float value, float limit, float scale) {
    return static_cast<std::uint32_t>(static_cast<int>(std::clamp(value, -limit, limit) * scale));
  }

  void set_colour(std::uint32_t u, std::uint32_t v, const std::array<std::uint32_t, 3>& light,
                  std::uint16_t* colour) const {
    const int texel = pattern_[(v % kPatternSize) * kPatternSize + u % kPatternSize];
    for (std::size_t c = 0; c < 3; ++c) {
      int value = paint_.colour[c] + ((paint_.toward[c] * texel) >> 8);
      if (paint_.is_lit) value = (value * std::clamp(static_cast<int>(light[c]) >> 8, 0, 2048)) >> 8;
      colour[c] = static_cast<std::uint16_t>(std::clamp(((value * clear_) >> 8) + haze_[c], 0, kMax));
    }
  }

  const Paint& paint_;
  const Pattern& pattern_;
  const std::array<int, 3>& haze_;
  int clear_;
  Plane nearness_, u_, v_;
  std::array<Plane, 3> light_;
};

}  // namespace

Canvas::Canvas(int w, int h)
    : width(w),
      height(h),
      nearness(static_cast<std::size_t>(w) * static_cast<std::size_t>(h)),
      instance(nearness.size()) {}

void Canvas::add_colour() { colour.resize(3 * nearness.size() + 1); }

void draw(Canvas& canvas, const Projection& projection, const Instance& instance, const Pattern& pattern, int index,
          const World& world) {
  std::array<Paint, kMaterials> paints;
  for (int i = 0; i < kMaterials; ++i)
    paints[static_cast<std::size_t>(i)] = paint_of(instance, static_cast<Material>(i), world);
  const float hazy = haze_at(world.camera.view(instance.position).z);
  const Vec3 far = world.light.haze * hazy;
  const std::array<int, 3> haze = {fixed(far.x), fixed(far.y), fixed(far.z)};
  const int clear = static_cast<int>((1 - hazy) * 256);
  for_each_face(*instance.mesh, projection.corners(), [&](const Face& face) {
    const Shader shader(face, paints[static_cast<std::size_t>(face.material)], pattern, haze, clear);
    face.for_each_row(canvas.width, canvas.height, [&](int y, int first, int end) {
      const std::size_t at =
          static_cast<std::size_t>(y) * static_cast<std::size_t>(canvas.width) + static_cast<std::size_t>(first);
      shader.fill(static_cast<float>(first) + 0.5F, static_cast<float>(y) + 0.5F, static_cast<std::uint16_t>(index),
                  {&canvas.nearness[at], &canvas.instance[at], &canvas.colour[3 * at], end - first});
    });
  });
}

void draw_shape(Canvas& canvas, const Projection& projection, const Instance& instance, int index) {
  for_each_face(*instance.mesh, projection.corners(), [&](const Face& face) {
    const Plane nearness = face.slopes.plane(face.a.nearness, face.b.nearness, face.c.nearness);
    face.for_each_row(canvas.width, canvas.height, [&](int y, int first, int end) {
      const std::size_t at = static_cast<std::size_t>(y) * static_cast<std::size_t>(canvas.width);
      float near = nearness.at(static_cast<float>(first) + 0.5F, static_cast<float>(y) + 0.5F);
      for (int x = first; x < end; ++x, near += nearness.dx) {
        const std::size_t i = at + static_cast<std::size_t>(x);
        if (near <= canvas.nearness[i]) continue;
        canvas.nearness[i] = near;
        canvas.instance[i] = static_cast<std::uint16_t>(index);
      }
    });
  });
}

void cover(Mask& mask, const Projection& projection, const Mesh& mesh) {
  for_each_face(mesh, projection.corners(), [&](const Face& face) {
    face.for_each_row(mask.width, mask.height, [&](int y, int first, int end) {
      std::fill(mask.row(y) + first, mask.row(y) + end, std::uint8_t{1});
    });
  });
}

}  // namespace saccade::scene
