#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "scene/geometry.hpp"

namespace saccade::scene {

/// Materials of triangles; an instance defines their colours.
enum class Material : std::uint8_t { kBody, kTrim, kDark, kGlass, kSkin, kPale, kLamp };
inline constexpr int kMaterials = 7;

/// Parts that swing as a person walks.
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
  Vec3 pivot;        ///< centre of an instance's rotation
  float radius = 0;  ///< of the bounding sphere about the pivot, with swung limbs
};

/// Objects: one mesh per class, in the order of scene_classes().
enum class Kind : std::uint8_t { kBall, kCrate, kCone, kBarrel, kTyre, kCar, kPerson, kDrone };
inline constexpr int kKinds = 8;
std::vector<Mesh> make_object_meshes();

/// Static props, which are no ground-truth objects.
enum class Prop : std::uint8_t { kRock, kBush, kTree, kPine, kCactus, kLamp, kBench };
inline constexpr int kProps = 7;
std::vector<Mesh> make_prop_meshes();

/// Weights of the second colour: kPatternSize^2 values of 0 to 255 for each kind, then for each prop.
inline constexpr int kPatternSize = 64;
using Pattern = std::array<std::uint8_t, kPatternSize * kPatternSize>;
std::vector<Pattern> make_patterns();

}  // namespace saccade::scene
