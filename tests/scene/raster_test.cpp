#include "scene/raster.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace saccade::scene {
namespace {

constexpr int kWidth = 100;
constexpr int kHeight = 100;

/// A camera at ground level looks along z: one metre at a distance of 10 metres is 20 pixels.
World world() {
  World world;
  world.camera.focal = 200;
  world.camera.centre = 50;
  world.camera.horizon = 50;
  world.camera.height = 0.5F;
  return world;
}

Instance crate(const Mesh& mesh, float x, float z) {
  Instance instance;
  instance.identity = 1;
  instance.mesh = &mesh;
  instance.position = {x, 0.5F, z};
  return instance;
}

struct Box {
  int x1 = kWidth, y1 = kHeight, x2 = 0, y2 = 0, pixels = 0;
  bool operator==(const Box&) const = default;
};

Box box_of(const Canvas& canvas, int index) {
  Box box;
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x)
      if (canvas.instance[static_cast<std::size_t>(y * kWidth + x)] == index)
        box = {std::min(box.x1, x), std::min(box.y1, y), std::max(box.x2, x + 1), std::max(box.y2, y + 1),
               box.pixels + 1};
  return box;
}

class Raster : public testing::Test {
 protected:
  void draw(const Instance& instance, int index) {
    ASSERT_TRUE(projection_.project(instance, world_, kWidth, kHeight, false));
    draw_shape(canvas_, projection_, instance, index);
  }

  std::vector<Mesh> meshes_ = make_object_meshes();
  const Mesh& crate_mesh_ = meshes_[static_cast<std::size_t>(Kind::kCrate)];
  World world_ = world();
  Canvas canvas_{kWidth, kHeight};
  Projection projection_;
};

TEST_F(Raster, ACrateOfOneMetreIsAsWideAsItsDistanceSays) {
  draw(crate(crate_mesh_, 0, 10.5F), 1);  // its front is at 10 m
  EXPECT_EQ(box_of(canvas_, 1), (Box{40, 40, 60, 60, 400}));
  EXPECT_FLOAT_EQ(canvas_.nearness[50 * kWidth + 50], 0.1F);
}

TEST_F(Raster, TheNearerOneShowsInWhicheverOrder) {
  const Instance near = crate(crate_mesh_, 0, 10.5F);
  const Instance far = crate(crate_mesh_, 0.5F, 20.5F);  // 10 pixels wide, from 50 to 60
  draw(near, 1);
  draw(far, 2);
  EXPECT_EQ(box_of(canvas_, 1).pixels, 400);
  EXPECT_EQ(box_of(canvas_, 2).pixels, 0);

  Canvas other(kWidth, kHeight);
  std::swap(other, canvas_);
  draw(far, 2);
  EXPECT_EQ(box_of(canvas_, 2), (Box{50, 45, 60, 55, 100}));
  draw(near, 1);
  EXPECT_EQ(canvas_.instance, other.instance);
  EXPECT_EQ(canvas_.nearness, other.nearness);
}

TEST_F(Raster, WhatIsBehindOrTooNearIsNotDrawn) {
  for (const float z : {-10.0F, 0.0F, 1.0F})
    EXPECT_FALSE(projection_.project(crate(crate_mesh_, 0, z), world_, kWidth, kHeight, true)) << z;
}

TEST_F(Raster, ASilhouetteHasNoHoles) {
  // In any orientation, the pixels drawn face by face are those covered by the mask of all faces, without gaps.
  for (const Mesh& mesh : meshes_)
    for (int turn = 0; turn < 8; ++turn) {
      Instance instance = crate(mesh, 0, 8);
      instance.turn = about_y(turn / 8.0 + 0.01) * about_x(turn / 5.0);
      Canvas canvas(kWidth, kHeight);
      std::swap(canvas_, canvas);
      draw(instance, 1);
      Mask mask{kWidth, kHeight, std::vector<std::uint8_t>(kWidth * kHeight)};
      cover(mask, projection_, mesh);
      EXPECT_GT(box_of(canvas_, 1).pixels, 100);
      EXPECT_EQ(std::count(mask.bytes.begin(), mask.bytes.end(), 1), box_of(canvas_, 1).pixels);
    }
  // A ball is convex: each of its rows is one run.
  Instance ball = crate(meshes_[static_cast<std::size_t>(Kind::kBall)], 0, 6);
  Canvas canvas(kWidth, kHeight);
  std::swap(canvas_, canvas);
  draw(ball, 1);
  for (int y = 0; y < kHeight; ++y) {
    int runs = 0;
    for (int x = 1; x < kWidth; ++x)
      runs += canvas_.instance[static_cast<std::size_t>(y * kWidth + x)] != 0 &&
              canvas_.instance[static_cast<std::size_t>(y * kWidth + x - 1)] == 0;
    EXPECT_LE(runs, 1) << y;
  }
}

TEST_F(Raster, FacesAreSeenFromOutside) {
  // A crate before the camera shows its front, not the inside of its back.
  draw(crate(crate_mesh_, 0, 10.5F), 1);
  EXPECT_GT(*std::max_element(canvas_.nearness.begin(), canvas_.nearness.end()), 0.0999F);
}

TEST_F(Raster, ImageAndTruthCoverTheSamePixels) {
  const auto patterns = make_patterns();
  for (std::size_t kind = 0; kind < meshes_.size(); ++kind) {
    Instance instance = crate(meshes_[kind], 0.3F, 7);
    instance.turn = about_y(0.13);
    Canvas painted(kWidth, kHeight);
    painted.add_colour();
    ASSERT_TRUE(projection_.project(instance, world_, kWidth, kHeight, false));
    projection_.shade(instance, world_);
    scene::draw(painted, projection_, instance, patterns[kind], 1, world_);
    Canvas shape(kWidth, kHeight);
    draw_shape(shape, projection_, instance, 1);
    EXPECT_EQ(painted.instance, shape.instance);
    EXPECT_EQ(painted.nearness, shape.nearness);
  }
}

}  // namespace
}  // namespace saccade::scene
