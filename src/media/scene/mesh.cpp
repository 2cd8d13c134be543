#include "scene/mesh.hpp"

#include "scene/random.hpp"
#include "scene/shapes.hpp"
#include "scene/texture.hpp"

namespace saccade::scene {
namespace {

Mesh make_ball() { return MeshBuilder().ball({0, 0.5F, 0}, {0.5F, 0.5F, 0.5F}, 10, 16).build({0, 0.5F, 0}); }

Mesh make_crate() { return MeshBuilder().block({-0.5F, 0, -0.5F}, {0.5F, 1, 0.5F}).build({0, 0.5F, 0}); }

Mesh make_cone() {
  constexpr Outline kSide[] = {{0.36F, 0.07F}, {0.05F, 1.1F}, {0, 1.12F}};
  return MeshBuilder()
      .lathe(kSide, 14, {}, false)
      .of(Material::kDark)
      .block({-0.45F, 0, -0.45F}, {0.45F, 0.08F, 0.45F}, 0.9F, 0.9F)
      .build({0, 0.5F, 0});
}

Mesh make_barrel() {
  constexpr Outline kSide[] = {{0.33F, 0}, {0.39F, 0.3F}, {0.41F, 0.55F}, {0.39F, 0.8F}, {0.33F, 1.1F}};
  constexpr Outline kTop[] = {{0.33F, 1.1F}, {0.29F, 1.1F}, {0.28F, 1.05F}, {0, 1.05F}};
  constexpr Outline kBottom[] = {{0, 0.05F}, {0.28F, 0.05F}, {0.29F, 0}, {0.33F, 0}};
  return MeshBuilder()
      .lathe(kSide, 16, {})
      .of(Material::kTrim)
      .lathe(kTop, 16, {}, false)
      .lathe(kBottom, 16, {}, false)
      .build({0, 0.55F, 0});
}

Mesh make_tyre() {
  std::array<Outline, 9> tread{};
  for (int i = 0; i < 9; ++i)
    tread[static_cast<std::size_t>(i)] = {0.38F - 0.16F * cosine(i / 8.0), -0.17F * sine(i / 8.0)};
  constexpr Outline kHub[] = {{0, -0.05F}, {0.1F, -0.07F}, {0.25F, -0.03F}, {0.25F, 0.03F}, {0.1F, 0.07F}, {0, 0.05F}};
  return MeshBuilder()
      .of(Material::kDark)
      .lathe(tread, 18, {0, 0.54F, 0}, true, true)
      .of(Material::kTrim)
      .lathe(kHub, 12, {0, 0.54F, 0}, false, true)
      .build({0, 0.54F, 0});
}

Mesh make_car() {
  constexpr Outline kWheel[] = {{0, -0.11F},    {0.2F, -0.11F}, {0.31F, -0.09F},
                                {0.31F, 0.09F}, {0.2F, 0.11F},  {0, 0.11F}};
  MeshBuilder car;
  car.block({-0.78F, 0.22F, -1.6F}, {0.78F, 0.72F, 1.6F}, 0.94F, 0.96F)
      .cabin({-0.7F, 0.72F, -1.25F}, {0.7F, 1.25F, 0.75F}, 0.84F, 0.66F, -0.1F, Material::kGlass)
      .of(Material::kDark)
      .block({-0.79F, 0.26F, 1.52F}, {0.79F, 0.38F, 1.66F})
      .block({-0.79F, 0.26F, -1.66F}, {0.79F, 0.38F, -1.52F})
      .of(Material::kLamp);
  for (const float x : {-0.55F, 0.55F}) car.block({x - 0.16F, 0.47F, 1.52F}, {x + 0.16F, 0.63F, 1.62F});
  car.of(Material::kTrim);
  for (const float x : {-0.58F, 0.58F}) car.block({x - 0.14F, 0.48F, -1.62F}, {x + 0.14F, 0.62F, -1.54F});
  car.of(Material::kDark);
  for (const float x : {-0.72F, 0.72F})
    for (const float z : {-1.0F, 1.0F}) car.lathe(kWheel, 12, {x, 0.31F, z}, false, true);
  return car.build({0, 0.5F, 0});
}

Mesh make_person() {
  MeshBuilder person;
  person.block({-0.24F, 0.85F, -0.14F}, {0.24F, 1.45F, 0.14F}, 1.15F, 1.1F)
      .of(Material::kTrim, Limb::kLeftLeg)
      .block({-0.23F, 0.08F, -0.11F}, {-0.03F, 0.88F, 0.11F}, 1.1F, 1.2F)
      .of(Material::kDark, Limb::kLeftLeg)
      .block({-0.23F, 0, -0.12F}, {-0.03F, 0.09F, 0.2F})
      .of(Material::kTrim, Limb::kRightLeg)
      .block({0.03F, 0.08F, -0.11F}, {0.23F, 0.88F, 0.11F}, 1.1F, 1.2F)
      .of(Material::kDark, Limb::kRightLeg)
      .block({0.03F, 0, -0.12F}, {0.23F, 0.09F, 0.2F});
  for (const float side : {-1.0F, 1.0F}) {
    const Limb limb = side < 0 ? Limb::kLeftArm : Limb::kRightArm;
    const float x = side * 0.35F;
    person.of(Material::kBody, limb).block({x - 0.07F, 1.08F, -0.08F}, {x + 0.07F, 1.45F, 0.08F});
    person.of(Material::kSkin, limb).block({x - 0.06F, 0.75F, -0.07F}, {x + 0.06F, 1.08F, 0.07F});
  }
  return person.of(Material::kSkin)
      .ball({0, 1.64F, 0.02F}, {0.15F, 0.18F, 0.16F}, 6, 10)
      .of(Material::kDark)
      .ball({0, 1.7F, -0.03F}, {0.165F, 0.15F, 0.165F}, 6, 10)
      .build({0, 0.9F, 0});
}

Mesh make_drone() {
  constexpr Outline kRing[] = {{0.24F, -0.03F}, {0.3F, -0.03F}, {0.3F, 0.03F}, {0.24F, 0.03F}, {0.24F, -0.03F}};
  constexpr Outline kDisc[] = {{0.24F, 0.01F}, {0, 0.012F}};
  constexpr Outline kUnder[] = {{0, -0.012F}, {0.24F, -0.01F}};
  MeshBuilder drone;
  drone.ball({0, 0.3F, 0}, {0.26F, 0.13F, 0.34F}, 6, 10).of(Material::kDark);
  drone.block({-0.5F, 0.3F, 0.28F}, {0.5F, 0.36F, 0.36F}).block({-0.5F, 0.3F, -0.36F}, {0.5F, 0.36F, -0.28F});
  drone.block({-0.2F, 0, -0.25F}, {-0.16F, 0.25F, 0.25F}).block({0.16F, 0, -0.25F}, {0.2F, 0.25F, 0.25F});
  drone.of(Material::kGlass).ball({0, 0.2F, 0.24F}, {0.09F, 0.09F, 0.09F}, 4, 8);
  for (const float x : {-0.5F, 0.5F})
    for (const float z : {-0.42F, 0.42F}) {
      const Vec3 hub = {x, 0.4F, z};
      drone.of(Material::kTrim).lathe(kRing, 12, hub, false);
      drone.of(Material::kPale).lathe(kDisc, 12, hub, false).lathe(kUnder, 12, hub, false);
    }
  return drone.build({0, 0.3F, 0});
}

Mesh make_lamp() {
  constexpr Outline kPole[] = {{0.12F, 0}, {0.06F, 0.4F}, {0.05F, 3.9F}};
  return MeshBuilder()
      .of(Material::kDark)
      .lathe(kPole, 8, {}, false)
      .block({-0.04F, 3.85F, -0.05F}, {0.9F, 3.95F, 0.05F})
      .of(Material::kLamp)
      .block({0.5F, 3.72F, -0.14F}, {1.0F, 3.86F, 0.14F})
      .build({0, 0, 0});
}

Mesh make_bench() {
  return MeshBuilder()
      .block({-0.9F, 0.4F, -0.25F}, {0.9F, 0.47F, 0.25F})
      .block({-0.9F, 0.55F, -0.3F}, {0.9F, 0.9F, -0.25F})
      .of(Material::kDark)
      .block({-0.8F, 0, -0.28F}, {-0.72F, 0.55F, 0.22F})
      .block({0.72F, 0, -0.28F}, {0.8F, 0.55F, 0.22F})
      .build({0, 0, 0});
}

Mesh make_pine() {
  constexpr Outline kTrunk[] = {{0.16F, 0}, {0.12F, 1}};
  constexpr Outline kLow[] = {{0, 0.75F}, {1.25F, 0.7F}, {0.45F, 2.1F}};
  constexpr Outline kMiddle[] = {{0.3F, 1.75F}, {1.0F, 1.7F}, {0.3F, 3.0F}};
  constexpr Outline kTop[] = {{0.2F, 2.65F}, {0.72F, 2.6F}, {0, 4.1F}};
  return MeshBuilder()
      .of(Material::kDark)
      .lathe(kTrunk, 6, {})
      .of(Material::kBody)
      .lathe(kLow, 9, {}, false)
      .lathe(kMiddle, 9, {}, false)
      .lathe(kTop, 9, {}, false)
      .build({0, 0, 0});
}

Mesh make_tree() {
  constexpr Outline kTrunk[] = {{0.2F, 0}, {0.13F, 0.7F}, {0.12F, 2}};
  return MeshBuilder()
      .of(Material::kDark)
      .lathe(kTrunk, 7, {})
      .of(Material::kBody)
      .lump({0, 2.6F, 0}, {1.15F, 1.0F, 1.15F}, 5, 9, 0.16F, 11)
      .lump({0.6F, 3.2F, 0.2F}, {0.8F, 0.7F, 0.8F}, 4, 8, 0.16F, 12)
      .lump({-0.5F, 3.3F, -0.2F}, {0.8F, 0.75F, 0.8F}, 4, 8, 0.16F, 13)
      .build({0, 0, 0});
}

Mesh make_cactus() {
  constexpr Outline kStem[] = {{0.2F, 0}, {0.23F, 0.9F}, {0.22F, 1.9F}, {0.12F, 2.15F}, {0, 2.2F}};
  constexpr Outline kArm[] = {{0.12F, 0}, {0.14F, 0.4F}, {0.08F, 0.75F}, {0, 0.8F}};
  return MeshBuilder()
      .lathe(kStem, 9, {})
      .lathe(kArm, 7, {0.5F, 0.95F, 0})
      .block({0.1F, 0.95F, -0.1F}, {0.6F, 1.15F, 0.1F})
      .lathe(kArm, 7, {-0.46F, 1.25F, 0})
      .block({-0.56F, 1.22F, -0.1F}, {-0.1F, 1.4F, 0.1F})
      .build({0, 0, 0});
}

/// The weight of a kind's second colour at (U, V), both in [0, 1).
float pattern_at(Kind kind, float u, float v) {
  const auto within = [](float x, float low, float high) { return x >= low && x < high; };
  switch (kind) {
    case Kind::kBall: return static_cast<int>(u * 8) % 2 == 0 || within(v, 0, 0.1F) || within(v, 0.9F, 1) ? 1.0F : 0.0F;
    case Kind::kCrate: {
      const float edge = std::min(std::min(u, 1 - u), std::min(v, 1 - v));
      if (edge < 0.12F || std::abs(u - v) < 0.09F) return 1;
      return fraction(u * 5.0) < 0.1F ? 0.85F : 0.0F;
    }
    case Kind::kCone: return within(v, 0.14F, 0.24F) || within(v, 0.3F, 0.4F) ? 1.0F : 0.0F;
    case Kind::kBarrel:
      return within(v, 0.2F, 0.27F) || within(v, 0.73F, 0.8F) ? 0.8F : within(v, 0.44F, 0.56F) ? 1.0F : 0.0F;
    case Kind::kCar: return within(u, 0.42F, 0.58F) ? 0.35F : 0.0F;
    case Kind::kPerson: return within(v, 0.5F, 0.68F) ? 1.0F : 0.0F;
    default: return 0;
  }
}

}  // namespace

std::vector<Mesh> make_object_meshes() {
  std::vector<Mesh> meshes;
  meshes.push_back(make_ball());
  meshes.push_back(make_crate());
  meshes.push_back(make_cone());
  meshes.push_back(make_barrel());
  meshes.push_back(make_tyre());
  meshes.push_back(make_car());
  meshes.push_back(make_person());
  meshes.push_back(make_drone());
  return meshes;
}

std::vector<Mesh> make_prop_meshes() {
  std::vector<Mesh> meshes;
  meshes.push_back(MeshBuilder().lump({0, 0.25F, 0}, {0.6F, 0.4F, 0.5F}, 5, 8, 0.2F, 1).build({}));
  meshes.push_back(MeshBuilder()
                       .lump({0, 0.4F, 0}, {0.7F, 0.55F, 0.6F}, 5, 9, 0.22F, 2)
                       .lump({0.5F, 0.3F, 0.2F}, {0.5F, 0.4F, 0.5F}, 4, 8, 0.22F, 3)
                       .build({}));
  meshes.push_back(make_tree());
  meshes.push_back(make_pine());
  meshes.push_back(make_cactus());
  meshes.push_back(make_lamp());
  meshes.push_back(make_bench());
  return meshes;
}

std::vector<Pattern> make_patterns() {
  std::vector<Pattern> patterns(kKinds + kProps);
  for (std::size_t kind = 0; kind < patterns.size(); ++kind)
    for (std::size_t i = 0; i < patterns[kind].size(); ++i) {
      const std::size_t row = i / kPatternSize;
      const float u = (static_cast<float>(i % kPatternSize) + 0.5F) / kPatternSize;
      const float v = (static_cast<float>(row) + 0.5F) / kPatternSize;
      // Props are mottled; objects have their class's pattern, slightly worn.
      const float share = kind < kKinds
                              ? pattern_at(static_cast<Kind>(kind), u, v) * (1 - 0.15F * Random(kind, i).unit())
                              : smooth_step(0.3F, 0.75F, cloud_at(kind, u, v, 8, 3));
      patterns[kind][i] = static_cast<std::uint8_t>(share * 255.0F);
    }
  return patterns;
}

}  // namespace saccade::scene
