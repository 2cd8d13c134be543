#pragma once

#include <algorithm>
#include <cmath>

namespace saccade::scene {

// The scene uses only +, -, *, / and square roots, which IEEE 754 rounds identically everywhere. Sine and similar
// functions are defined here, because those of the C library differ between its versions.

/// A point or direction (metres: x right, y up, z forward), or a colour in linear light.
struct Vec3 {
  float x = 0;
  float y = 0;
  float z = 0;
};

constexpr Vec3 operator+(const Vec3& a, const Vec3& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
constexpr Vec3 operator-(const Vec3& a, const Vec3& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
constexpr Vec3 operator*(const Vec3& a, const Vec3& b) { return {a.x * b.x, a.y * b.y, a.z * b.z}; }
constexpr Vec3 operator*(const Vec3& a, float by) { return {a.x * by, a.y * by, a.z * by}; }
constexpr float dot(const Vec3& a, const Vec3& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
constexpr Vec3 cross(const Vec3& a, const Vec3& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
inline Vec3 normalized(const Vec3& a) { return a * (1.0F / std::sqrt(std::max(dot(a, a), 1e-20F))); }

template <typename T>
constexpr T lerp(const T& a, const T& b, float share) {
  return a * (1.0F - share) + b * share;
}

/// 0 below LOW, 1 above HIGH, smooth in between.
constexpr float smooth_step(float low, float high, float x) {
  const float t = std::clamp((x - low) / (high - low), 0.0F, 1.0F);
  return t * t * (3.0F - 2.0F * t);
}

/// The sine of an angle in turns, error below 4e-6 (Taylor series of degree 9 on a quarter turn).
inline float sine(double turns) {
  double r = turns - std::floor(turns + 0.5);
  if (r > 0.25) r = 0.5 - r;
  if (r < -0.25) r = -0.5 - r;
  const double x = 6.283185307179586 * r;
  const double s = x * x;
  return static_cast<float>(x * (1 + s * (-1.0 / 6 + s * (1.0 / 120 + s * (-1.0 / 5040 + s * (1.0 / 362880))))));
}

inline float cosine(double turns) { return sine(turns + 0.25); }

inline float fraction(double x) { return static_cast<float>(x - std::floor(x)); }

/// A rotation matrix; its columns are the images of the axes.
struct Rotation {
  Vec3 x{1, 0, 0};
  Vec3 y{0, 1, 0};
  Vec3 z{0, 0, 1};

  Vec3 operator()(const Vec3& v) const { return x * v.x + y * v.y + z * v.z; }
};

inline Rotation operator*(const Rotation& a, const Rotation& b) { return {a(b.x), a(b.y), a(b.z)}; }
inline Rotation about_x(double turns) {
  const float s = sine(turns);
  const float c = cosine(turns);
  return {{1, 0, 0}, {0, c, s}, {0, -s, c}};
}
inline Rotation about_y(double turns) {
  const float s = sine(turns);
  const float c = cosine(turns);
  return {{c, 0, -s}, {0, 1, 0}, {s, 0, c}};
}

/// The rotation about y that maps +z to the direction (X, Z).
inline Rotation heading(float x, float z) {
  const float length = std::sqrt(x * x + z * z);
  if (length < 1e-6F) return {};
  const float s = x / length;
  const float c = z / length;
  return {{c, 0, -s}, {0, 1, 0}, {s, 0, c}};
}

}  // namespace saccade::scene
