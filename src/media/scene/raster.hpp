#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "scene/world.hpp"

namespace saccade::scene {

/// Linear light in fixed point: a white face in full exposure is kOne; kMax is the maximum.
inline constexpr int kOne = 4096;
inline constexpr int kMax = 16383;

/// The image before the camera's effects: height x width of each.
struct Canvas {
  Canvas(int width, int height);
  int width;
  int height;
  /// Allocates colours.
  void add_colour();

  std::vector<std::uint16_t> colour;  ///< three per pixel, linear light, and one of padding; empty without add_colour()
  std::vector<float> nearness;        ///< inverse depth, 1 / metres; 0: nothing there
  std::vector<std::uint16_t> instance;  ///< index of the instance plus one; 0: background
};

/// One byte per pixel.
struct Mask {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> bytes;

  std::uint8_t* row(int y) { return bytes.data() + static_cast<std::ptrdiff_t>(y) * width; }
  const std::uint8_t* row(int y) const { return bytes.data() + static_cast<std::ptrdiff_t>(y) * width; }
};

/// A vertex in the image.
struct Corner {
  float x = 0;         ///< columns
  float y = 0;         ///< rows
  float nearness = 0;  ///< inverse depth; 0 or less: behind the camera
  float u = 0;         ///< pattern coordinate in texels
  float v = 0;
  Vec3 light;
};

/// Projects one instance for drawing. Its storage is reused.
class Projection {
 public:
  /// False if INSTANCE is not visible: too near, behind the camera, or (unless WHOLE) outside the image.
  bool project(const Instance& instance, const World& world, int width, int height, bool whole);
  /// Computes the light at the corners.
  void shade(const Instance& instance, const World& world);
  /// Projects the mesh's shadow onto the ground: corners become those of the shadow. False if there is none.
  bool cast_shadow(const World& world, int width, int height);
  /// Translates by (-LEFT, -TOP), then scales by SCALE.
  void fit(float left, float top, float scale);

  std::span<const Corner> corners() const { return corners_; }
  float left() const { return left_; }
  float top() const { return top_; }
  float right() const { return right_; }
  float bottom() const { return bottom_; }

 private:
  void bound();

  std::vector<Vec3> points_;  // in the rig's coordinates
  std::vector<Vec3> normals_;
  std::vector<Corner> corners_;
  const Instance* instance_ = nullptr;
  float left_ = 0, top_ = 0, right_ = 0, bottom_ = 0;
};

/// Draws PROJECTION's mesh into CANVAS as instance INDEX, including colour.
void draw(Canvas& canvas, const Projection& projection, const Instance& instance, const Pattern& pattern, int index,
          const World& world);
/// Draws depth and index only.
void draw_shape(Canvas& canvas, const Projection& projection, const Instance& instance, int index);
/// Sets the pixels covered by PROJECTION's mesh to 1.
void cover(Mask& mask, const Projection& projection, const Mesh& mesh);

}  // namespace saccade::scene
