#include "vision/tile_merger.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>
#include <set>

#include "vision/tile_overlap.hpp"

namespace saccade {
namespace {

using Box = std::array<float, 4>;

Detection object(const Box& box, float confidence, int class_id = 0) {
  return {.box = box, .class_id = class_id, .confidence = confidence};
}

/// A tile of 100x100 pixels at (x, y), or another size.
struct TileOf {
  int x = 0;
  int y = 0;
  std::vector<Detection> found;
  int size = 100;
};
std::vector<Detection> merged(TileMerger& merger, const std::vector<TileOf>& tiles) {
  std::vector<Detection> result;
  merger.begin(1000, 1000, {0, 0, 1000, 1000});
  for (const TileOf& tile : tiles) merger.add(tile.found, {tile.x, tile.y, tile.size, tile.size});
  merger.finish(result);
  return result;
}

TEST(TileMerger, JoinsTheTwoPartsOfACutBox) {
  // A box from 80 to 140; the tiles end at 100 and begin at 60.
  const std::vector<TileOf> tiles = {{0, 0, {object({80, 10, 100, 30}, 0.6F)}},
                                     {60, 0, {object({20, 10, 80, 30}, 0.9F)}}};
  TileMerger nmm(TileMerge::kNmm, false, 10);
  const auto joined = merged(nmm, tiles);
  ASSERT_EQ(joined.size(), 1U);
  EXPECT_EQ(joined[0].box, (Box{80, 10, 140, 30}));
  EXPECT_EQ(joined[0].confidence, 0.9F);
}

TEST(TileMerger, TheUnionGrowsOnlyByMerging) {
  // Both parts reach beyond the overlap.
  const std::vector<TileOf> tiles = {{0, 0, {object({40, 10, 100, 30}, 0.9F)}},
                                     {70, 0, {object({0, 10, 50, 32}, 0.8F)}}};
  TileMerger nmm(TileMerge::kNmm, false, 10);
  EXPECT_EQ(merged(nmm, tiles)[0].box, (Box{40, 10, 120, 32}));
  TileMerger nms(TileMerge::kNms, false, 10);
  const auto kept = merged(nms, tiles);
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept[0].box, (Box{40, 10, 100, 30}));
}

TEST(TileMerger, AWholeObjectDoesNotGrow) {
  // The box of the first tile ends before its border. The second and the third tile see it less well.
  const std::vector<TileOf> tiles = {{0, 0, {object({40, 10, 90, 30}, 0.9F)}},
                                     {60, 0, {object({0, 8, 32, 31}, 0.3F)}},
                                     {0, 0, {object({36, 9, 95, 33}, 0.4F)}, 1000}};
  TileMerger nmm(TileMerge::kNmm, false, 10);
  const auto kept = merged(nmm, tiles);
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept[0].box, (Box{40, 10, 90, 30}));
}

TEST(TileMerger, KeepsWhatDoesNotMatch) {
  TileMerger merger(TileMerge::kNmm, false, 10);
  const std::vector<TileOf> tiles = {
      {0, 0, {object({0, 0, 10, 10}, 0.5F), object({20, 0, 30, 10}, 0.9F, 1)}},
      {0, 0, {object({6, 0, 16, 10}, 0.8F), object({20, 0, 30, 10}, 0.4F, 2)}},
  };
  const auto kept = merged(merger, tiles);
  ASSERT_EQ(kept.size(), 4U) << "an IoS of 0.4, and another class";
  EXPECT_EQ(kept[0].confidence, 0.9F);
  EXPECT_EQ(kept[1].confidence, 0.8F);
  TileMerger agnostic(TileMerge::kNmm, true, 10);
  EXPECT_EQ(merged(agnostic, tiles).size(), 3U);
  TileMerger two(TileMerge::kNmm, false, 2);
  EXPECT_EQ(merged(two, tiles).size(), 2U);
}

TEST(TileMerger, ALongObjectIsJoinedFromItsNeighbouringParts) {
  // The first and the third part have nothing in common.
  const std::vector<TileOf> tiles = {{0, 0, {object({20, 0, 100, 10}, 0.9F)}},
                                     {60, 0, {object({0, 0, 100, 10}, 0.8F)}},
                                     {120, 0, {object({0, 0, 50, 10}, 0.7F)}}};
  TileMerger merger(TileMerge::kNmm, false, 10);
  const auto joined = merged(merger, tiles);
  ASSERT_EQ(joined.size(), 1U);
  EXPECT_EQ(joined[0].box, (Box{20, 0, 170, 10}));
}

TEST(TileMerger, NeighboursInOneTileStayTwo) {
  // The model itself has kept both. The second tile sees the first object again.
  const std::vector<TileOf> tiles = {{0, 0, {object({0, 0, 40, 40}, 0.9F), object({5, 5, 25, 40}, 0.8F)}},
                                     {0, 0, {object({0, 0, 40, 41}, 0.7F)}}};
  TileMerger merger(TileMerge::kNmm, false, 10);
  const auto kept = merged(merger, tiles);
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(kept[0].box, (Box{0, 0, 40, 40}));
  EXPECT_EQ(kept[1].box, (Box{5, 5, 25, 40}));
}

TEST(TileMerger, MasksAreUnitedRunByRun) {
  const std::vector<MaskRun> left = {{10, 80, 90}, {10, 95, 100}, {11, 80, 100}};
  const std::vector<MaskRun> right = {{10, 25, 60}, {11, 40, 50}, {12, 20, 30}};
  Detection first = object({80, 10, 100, 12}, 0.9F);
  Detection second = object({20, 10, 60, 13}, 0.8F);
  first.mask = Mask{left, 35};
  second.mask = Mask{right, 55};
  TileMerger merger(TileMerge::kNmm, false, 10);
  const auto joined = merged(merger, {{0, 0, {first}}, {60, 0, {second}}});
  ASSERT_EQ(joined.size(), 1U);
  std::vector<std::array<int, 3>> runs;
  for (const MaskRun& run : joined[0].mask->runs) runs.push_back({run.y, run.x1, run.x2});
  // Row 10: 80-90, 95-100 and 85-120; row 11: 80-100 and 100-110 are adjacent.
  EXPECT_EQ(runs, (std::vector<std::array<int, 3>>{{10, 80, 120}, {11, 80, 110}, {12, 80, 90}}));
  EXPECT_EQ(joined[0].mask->area, 40 + 30 + 10);
}

TEST(TileMerger, TheUnionOfRandomMasksIsThatOfTheirPixels) {
  std::mt19937 random(4);
  TileMerger merger(TileMerge::kNmm, false, 10);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::vector<MaskRun>> runs(3);
    std::vector<TileOf> tiles;
    std::set<std::pair<int, int>> pixels;
    for (std::size_t k = 0; k < runs.size(); ++k) {
      for (int y = 0; y < 6; ++y)
        for (int x = static_cast<int>(random() % 4); x < 20; x += 2 + static_cast<int>(random() % 9)) {
          const int end = x + 1 + static_cast<int>(random() % 3);
          if (!runs[k].empty() && runs[k].back().y == y && runs[k].back().x2 >= x) continue;
          runs[k].push_back({y, x, end});
        }
      Detection detection = object({0, 0, 20, 6}, 0.5F + 0.1F * static_cast<float>(k));
      detection.mask = Mask{runs[k], 0};
      const int shift = static_cast<int>(2 * k);
      for (const MaskRun& run : runs[k])
        for (int x = run.x1; x < run.x2; ++x) pixels.emplace(run.y, x + shift);
      tiles.push_back({shift, 0, {detection}});
    }
    const auto joined = merged(merger, tiles);
    ASSERT_EQ(joined.size(), 1U);
    std::set<std::pair<int, int>> found;
    MaskRun last{-1, 0, 0};
    for (const MaskRun& run : joined[0].mask->runs) {
      ASSERT_TRUE(run.y > last.y || run.x1 > last.x2) << "sorted, neither adjacent nor overlapping";
      for (int x = run.x1; x < run.x2; ++x) found.emplace(run.y, x);
      last = run;
    }
    ASSERT_EQ(found, pixels);
    ASSERT_EQ(joined[0].mask->area, static_cast<std::int64_t>(pixels.size()));
  }
}

TEST(TileMerger, AJointIsTakenFromTheTileThatSeesIt) {
  const std::vector<Keypoint> above = {{5, 5, 0.9F}, {5, 38, 0.1F}};
  const std::vector<Keypoint> below = {{5, 1, 0.2F}, {5, 30, 0.8F}};
  Detection first = object({0, 0, 10, 40}, 0.9F);
  Detection second = object({0, 0, 10, 40}, 0.8F);
  first.keypoints = above;
  second.keypoints = below;
  TileMerger merger(TileMerge::kNmm, false, 10);
  const auto joined = merged(merger, {{100, 0, {first}}, {100, 20, {second}}});
  ASSERT_EQ(joined.size(), 1U);
  ASSERT_EQ(joined[0].keypoints.size(), 2U);
  EXPECT_EQ(joined[0].keypoints[0].y, 5);
  EXPECT_EQ(joined[0].keypoints[1].y, 50);
  EXPECT_EQ(joined[0].keypoints[1].x, 105);
}

TEST(TileMerger, AnOrientedBoxGrowsAlongItsAngle) {
  constexpr float kAngle = std::numbers::pi_v<float> / 6;
  const auto at = [&](float along) {
    Detection detection = object({}, along > 0 ? 0.9F : 0.8F);
    detection.oriented = {200 + along * std::cos(kAngle), 200 + along * std::sin(kAngle), 60, 20, kAngle};
    return detection;
  };
  TileMerger merger(TileMerge::kNmm, false, 10);
  const auto joined = merged(merger, {{10, 20, {at(10)}}, {10, 20, {at(-10)}}});
  ASSERT_EQ(joined.size(), 1U);
  const OrientedBox& box = *joined[0].oriented;
  EXPECT_NEAR(box.x, 210, 1e-3);
  EXPECT_NEAR(box.y, 220, 1e-3);
  EXPECT_NEAR(box.width, 80, 1e-3);
  EXPECT_NEAR(box.height, 20, 1e-3);
  EXPECT_NEAR(joined[0].box[0], 210 - 40 * std::cos(kAngle) - 10 * std::sin(kAngle), 1e-3);
}

TEST(TileOverlap, OfBoxesIsTheShareOfTheSmaller) {
  EXPECT_FLOAT_EQ(intersection_over_smaller(Box{0, 0, 10, 10}, Box{5, 0, 9, 100}), 0.4F);
  EXPECT_FLOAT_EQ(intersection_over_smaller(Box{0, 0, 10, 10}, Box{2, 2, 4, 4}), 1);
  EXPECT_EQ(intersection_over_smaller(Box{0, 0, 10, 10}, Box{10, 0, 20, 10}), 0);
  EXPECT_EQ(intersection_over_smaller(Box{0, 0, 10, 10}, Box{3, 3, 3, 8}), 0);
}

TEST(TileOverlap, OfOrientedBoxesIsThatOfTheirPixels) {
  std::mt19937 random(8);
  std::uniform_real_distribution<float> number(0, 1);
  const auto holds = [](const OrientedBox& box, float x, float y) {
    const float along = (x - box.x) * std::cos(box.angle) + (y - box.y) * std::sin(box.angle);
    const float across = (y - box.y) * std::cos(box.angle) - (x - box.x) * std::sin(box.angle);
    return std::abs(along) <= box.width / 2 && std::abs(across) <= box.height / 2;
  };
  for (int round = 0; round < 40; ++round) {
    const auto draw = [&] {
      return OrientedBox{40 + 20 * number(random), 40 + 20 * number(random), 5 + 40 * number(random),
                         5 + 40 * number(random), 3 * number(random)};
    };
    const OrientedBox a = draw();
    const OrientedBox b = draw();
    int common = 0;
    for (int y = 0; y < 1000; ++y)
      for (int x = 0; x < 1000; ++x) {
        const float px = (static_cast<float>(x) + 0.5F) / 10;
        const float py = (static_cast<float>(y) + 0.5F) / 10;
        common += holds(a, px, py) && holds(b, px, py);
      }
    const float smaller = std::min(a.width * a.height, b.width * b.height);
    EXPECT_NEAR(intersection_over_smaller(a, b), static_cast<float>(common) / 100 / smaller, 0.02) << round;
  }
}

}  // namespace
}  // namespace saccade
