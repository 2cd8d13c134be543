#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "scene/geometry.hpp"

namespace saccade::scene {

/// What a triangle is made of; an instance gives each its colour.
enum class Material : std::uint8_t { kBody, kTrim, kDark, kGlass, kSkin, kPale, kLamp };
inline constexpr int kMaterials = 7;

/// A part that swings as a person walks.
enum class Limb : std::uint8_t { kNone, kLeftLeg, kRightLeg, kLeftArm, kRightArm };

struct Vertex {
  Vec3 position;  ///< metres, the ground at y = 0, the front towards +z
  Vec3 normal;
  float u = 0;  ///< 1: once around the pattern
  float v = 0;
  Limb limb = Limb::kNone;
};

struct Triangle {
  std::array<std::uint16_t, 3> corner{};
  Material material = Material::kBody;
};

struct Mesh {
  std::vector<Vertex> vertices;
  std::vector<Triangle> triangles;
  Vec3 pivot;        ///< what an instance turns about
  float radius = 0;  ///< of the sphere about pivot that holds it all, limbs swung
};

/// What moves: one mesh a class, in the order of scene_classes().
enum class Kind : std::uint8_t { kBall, kCrate, kCone, kBarrel, kTyre, kCar, kPerson, kDrone };
inline constexpr int kKinds = 8;
std::vector<Mesh> make_object_meshes();

/// What stands about and is nobody's answer.
enum class Prop : std::uint8_t { kRock, kBush, kTree, kPine, kCactus, kLamp, kBench };
inline constexpr int kProps = 7;
std::vector<Mesh> make_prop_meshes();

/// How much of a body's second colour shows: kPatternSize^2 values of 0 to 255 for each kind, then for each prop.
inline constexpr int kPatternSize = 64;
using Pattern = std::array<std::uint8_t, kPatternSize * kPatternSize>;
std::vector<Pattern> make_patterns();

}  // namespace saccade::scene
