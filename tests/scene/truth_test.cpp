#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "scene/image.hpp"
#include "scene/random.hpp"
#include "scene/scene.hpp"

namespace saccade {
namespace {

using test::render;
using test::RgbImage;

std::size_t index(const SceneTruth& truth, int x, int y) {
  return static_cast<std::size_t>(y) * static_cast<std::size_t>(truth.width) + static_cast<std::size_t>(x);
}

/// One object in the identity map.
struct Seen {
  int x1 = 1 << 20, y1 = 1 << 20, x2 = 0, y2 = 0;
  std::int64_t pixels = 0;
};

std::map<std::int32_t, Seen> seen_in(const SceneTruth& truth) {
  std::map<std::int32_t, Seen> all;
  for (int y = 0; y < truth.height; ++y)
    for (int x = 0; x < truth.width; ++x) {
      const std::int32_t identity = truth.identities[index(truth, x, y)];
      if (identity == 0) continue;
      Seen& seen = all[identity];
      seen = {std::min(seen.x1, x), std::min(seen.y1, y), std::max(seen.x2, x + 1), std::max(seen.y2, y + 1),
              seen.pixels + 1};
    }
  return all;
}

void expect_consistent(const SceneTruth& truth) {
  const auto seen = seen_in(truth);
  ASSERT_EQ(seen.size(), truth.objects.size());
  std::int32_t last = 0;
  for (const SceneObject& object : truth.objects) {
    EXPECT_GT(object.identity, last);
    last = object.identity;
    const Seen& mask = seen.at(object.identity);
    EXPECT_EQ(object.x1, mask.x1);
    EXPECT_EQ(object.y1, mask.y1);
    EXPECT_EQ(object.x2, mask.x2);
    EXPECT_EQ(object.y2, mask.y2);
    EXPECT_EQ(object.visible_pixels, mask.pixels);
    EXPECT_GT(object.visible_share, 0);
    EXPECT_LE(object.visible_share, 1);
    EXPECT_GE(object.class_id, 0);
    EXPECT_LT(object.class_id, static_cast<int>(scene_classes().size()));
    EXPECT_GT(object.depth, 0);
    EXPECT_EQ(object.ignore, is_ignored(object));
  }
}

TEST(SceneTruth, BoxesAreTightWhateverTheOptions) {
  scene::Random random(4);
  for (int round = 0; round < 60; ++round) {
    SceneOptions options{.seed = random.next()};
    options.width = 16 + random.below(300);
    options.height = 16 + random.below(300);
    options.objects = random.below(60);
    options.fps = random.between(0.1F, 200);
    if (random.unit() < 0.5F) options.night = random.unit();
    if (random.unit() < 0.5F) options.blur = random.unit();
    if (random.unit() < 0.5F) options.noise = random.unit();
    const auto frame = static_cast<std::int64_t>(random.next() % 1'000'000'000);
    SCOPED_TRACE(to_uri(options) + " frame " + std::to_string(frame));
    Scene scene(options);
    render(scene, frame);
    expect_consistent(scene.truth(frame));
  }
}

/// Without noise and blur, the image differs from that of the same place without objects where there is an object, and
/// elsewhere only by shadows and antialiased edges.
TEST(SceneTruth, MasksAreWhereTheImageShowsObjects) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    SceneOptions options{
        .seed = seed, .width = 320, .height = 240, .objects = 20, .night = 0.0F, .blur = 0.0F, .noise = 0.0F};
    Scene scene(options);
    const RgbImage with = render(scene, 40);
    options.objects = 0;
    const RgbImage without = render(options, 40);
    const SceneTruth& truth = scene.truth(40);
    ASSERT_FALSE(truth.objects.empty());
    int brighter = 0;
    std::map<std::int32_t, int> differ;
    for (int y = 1; y + 1 < 240; ++y)
      for (int x = 1; x + 1 < 320; ++x) {
        const std::int32_t identity = truth.identities[index(truth, x, y)];
        bool is_edge = false;
        for (int dy = -1; dy <= 1; ++dy)
          for (int dx = -1; dx <= 1; ++dx) is_edge |= truth.identities[index(truth, x + dx, y + dy)] != identity;
        if (identity != 0)
          differ[identity] += !std::equal(with.at(x, y), with.at(x, y) + 3, without.at(x, y));
        else if (!is_edge)
          brighter += with.light(x, y) > without.light(x, y);
      }
    EXPECT_EQ(brighter, 0);
    for (const SceneObject& object : truth.objects)
      if (object.x1 > 1 && object.y1 > 1 && object.x2 < 318 && object.y2 < 238) {
        EXPECT_GT(differ[object.identity], 0.95 * static_cast<double>(object.visible_pixels)) << object.identity;
      }
  }
}

TEST(SceneTruth, DepthIsThatOfTheObjectThatShows) {
  Scene scene({.seed = 3, .width = 320, .height = 240, .objects = 40});
  for (int frame = 0; frame < 40; ++frame) {
    const SceneTruth& truth = scene.truth(25 * frame);
    std::map<std::int32_t, const SceneObject*> by_identity;
    for (const SceneObject& object : truth.objects) by_identity[object.identity] = &object;
    for (std::size_t i = 0; i < truth.depth.size(); ++i) {
      if (truth.identities[i] == 0) continue;
      // The farthest part of an object from its centre is a long car's corner.
      ASSERT_NEAR(truth.depth[i], by_identity.at(truth.identities[i])->depth, 2.6F);
    }
  }
}

TEST(SceneTruth, BackgroundDepthIsThatOfThePlane) {
  Scene scene({.width = 64, .height = 64, .objects = 0});
  const SceneTruth& truth = scene.truth(0);
  EXPECT_TRUE(std::isinf(truth.depth[index(truth, 32, 0)]));
  const float low = truth.depth[index(truth, 32, 63)];
  const float high = truth.depth[index(truth, 32, 40)];
  EXPECT_GT(low, 1);
  EXPECT_LT(low, high);
}

TEST(SceneTruth, ObjectsEnterAndLeaveAtTheEdges) {
  constexpr int kFrames = 900;
  Scene scene({.seed = 5, .width = 320, .height = 240, .fps = 30, .objects = 10});
  std::map<std::int32_t, SceneObject> before;
  std::set<std::int32_t> ever;
  int entered = 0;
  for (int frame = 0; frame < kFrames; ++frame) {
    const SceneTruth& truth = scene.truth(frame);
    std::map<std::int32_t, SceneObject> now;
    const auto may_appear = [](const SceneObject& o) {
      return o.x1 == 0 || o.y1 == 0 || o.x2 == 320 || o.y2 == 240 || is_ignored(o);
    };
    for (const SceneObject& object : truth.objects) {
      now[object.identity] = object;
      if (frame > 0 && !before.contains(object.identity)) {
        EXPECT_TRUE(may_appear(object)) << "identity " << object.identity << " appears in the middle of frame "
                                        << frame;
        ++entered;
      }
      ever.insert(object.identity);
    }
    for (const auto& [identity, object] : before)
      if (!now.contains(identity)) {
        EXPECT_TRUE(may_appear(object)) << "identity " << identity << " is lost in the middle of frame " << frame;
      }
    before = now;
  }
  EXPECT_GT(entered, 20);
  EXPECT_GT(ever.size(), 20U);
}

TEST(SceneTruth, AnIdentityKeepsItsClassAndMovesSmoothly) {
  Scene scene({.seed = 8, .width = 320, .height = 240, .fps = 30, .objects = 16});
  std::map<std::int32_t, int> class_of;
  std::map<std::int32_t, SceneObject> before;
  int compared = 0;
  for (int frame = 0; frame < 300; ++frame) {
    std::map<std::int32_t, SceneObject> now;
    for (const SceneObject& object : scene.truth(frame).objects) {
      now[object.identity] = object;
      EXPECT_EQ(class_of.emplace(object.identity, object.class_id).first->second, object.class_id);
      const auto found = before.find(object.identity);
      if (found == before.end() || object.visible_share < 0.999F || found->second.visible_share < 0.999F) continue;
      const SceneObject& old = found->second;
      const int reach = 6 + (object.x2 - object.x1) / 4;
      EXPECT_NEAR(object.x1 + object.x2, old.x1 + old.x2, 2 * reach) << frame;
      EXPECT_NEAR(object.y1 + object.y2, old.y1 + old.y2, 2 * reach) << frame;
      EXPECT_NEAR(object.depth, old.depth, 0.5) << frame;
      ++compared;
    }
    before = now;
  }
  EXPECT_GT(compared, 1000);
}

TEST(SceneTruth, AWholeObjectIsWhollySeen) {
  // A single unobstructed object: all of it is visible until an edge clips it.
  int whole = 0;
  int cut = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    Scene scene({.seed = seed, .width = 320, .height = 240, .objects = 1, .place = 2});
    for (int frame = 0; frame < 300; frame += 10)
      for (const SceneObject& object : scene.truth(frame).objects) {
        const bool is_inside = object.x1 > 0 && object.y1 > 0 && object.x2 < 320 && object.y2 < 240;
        if (is_inside && object.visible_share > 0.999F) ++whole;
        if (!is_inside && object.visible_share < 0.97F) ++cut;
      }
  }
  EXPECT_GT(whole, 100);
  EXPECT_GT(cut, 10);
}

TEST(SceneTruth, AllClassesAndSizesAppear) {
  std::array<int, 8> classes{};
  int small = 0;
  int large = 0;
  int all = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    Scene scene({.seed = seed, .fps = 0.2});
    for (int frame = 0; frame < 4; ++frame)
      for (const SceneObject& object : scene.truth(frame).objects) {
        if (object.ignore) continue;
        ++classes[static_cast<std::size_t>(object.class_id)];
        const int size = std::max(object.x2 - object.x1, object.y2 - object.y1);
        small += size < 24;
        large += size > 100;
        ++all;
      }
  }
  for (const int count : classes) EXPECT_GT(count, all / 16);
  EXPECT_GT(small, all / 50);
  EXPECT_LT(small, all / 4);
  EXPECT_GT(large, all / 20);
  EXPECT_LT(large, all / 3);
}

}  // namespace
}  // namespace saccade
