#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "scene/world.hpp"

namespace saccade::scene {

/// Linear light is kept as integers: a white face in full exposure is kOne, and nothing is brighter than kMax.
inline constexpr int kOne = 4096;
inline constexpr int kMax = 16383;

/// What the image is before the camera sees it: height x width of each.
struct Canvas {
  Canvas(int width, int height);
  int width;
  int height;
  /// Makes room for colours.
  void add_colour();

  std::vector<std::uint16_t> colour;    ///< three a pixel, linear light, and one to spare; empty without add_colour()
  std::vector<float> nearness;          ///< one over the depth in metres; 0: nothing there
  std::vector<std::uint16_t> instance;  ///< index of the instance plus one; 0: background
};

/// One byte a pixel.
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
  float nearness = 0;  ///< one over its depth; 0 or less: behind the camera
  float u = 0;         ///< in the pattern, texels
  float v = 0;
  Vec3 light;
};

/// Projects one instance; what follows draws it. Its storage is used again for the next.
class Projection {
 public:
  /// False where INSTANCE is out of sight: too near, behind, or (unless WHOLE) outside the image.
  bool project(const Instance& instance, const World& world, int width, int height, bool whole);
  /// Adds light to the corners.
  void shade(const Instance& instance, const World& world);
  /// Throws the mesh's shadow onto the ground: corners become those of the shadow. False where there is none.
  bool cast_shadow(const World& world, int width, int height);
  /// Moves the image by (-LEFT, -TOP), then shrinks it to SCALE.
  void fit(float left, float top, float scale);

  std::span<const Corner> corners() const { return corners_; }
  float left() const { return left_; }
  float top() const { return top_; }
  float right() const { return right_; }
  float bottom() const { return bottom_; }

 private:
  void bound();

  std::vector<Vec3> points_;  // of the rig
  std::vector<Vec3> normals_;
  std::vector<Corner> corners_;
  const Instance* instance_ = nullptr;
  float left_ = 0, top_ = 0, right_ = 0, bottom_ = 0;
};

/// Draws PROJECTION's mesh into CANVAS as instance number INDEX, colour included.
void draw(Canvas& canvas, const Projection& projection, const Instance& instance, const Pattern& pattern, int index,
          const World& world);
/// Draws depth and index alone.
void draw_shape(Canvas& canvas, const Projection& projection, const Instance& instance, int index);
/// Sets to 1 what PROJECTION's mesh covers.
void cover(Mask& mask, const Projection& projection, const Mesh& mesh);

}  // namespace saccade::scene
