#include "saccade/results.hpp"
#include "support/specials.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace saccade {
namespace {

TEST(OrientedBox, CornersOfAnUprightOne) {
  const OrientedBox box{10, 20, 8, 4, 0};

  EXPECT_EQ(box.corners(), (std::array<float, 8>{14, 22, 14, 18, 6, 18, 6, 22}));
}

TEST(OrientedBox, TurnsFromTheXAxisTowardsTheYAxis) {
  const OrientedBox box{10, 20, 8, 4, std::numbers::pi_v<float> / 2};

  const std::array<float, 8> corners = box.corners();

  const std::array<float, 8> expected = {8, 24, 12, 24, 12, 16, 8, 16};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(corners[i], expected[i], 1e-5) << i;
}

/// A frame of 8x4 pixels of which the model saw all but the first two columns, on a grid of 3x2: two pixels per cell.
GridPlace place() { return {3, 2, 0.5, 0.5, -1, 0, {2, 0, 6, 4}}; }

TEST(ClassMap, APixelHasTheClassOfItsCell) {
  const std::int32_t cells[] = {1, 2, 3, 4, 5, 6};
  const ClassMap map{place(), cells};

  EXPECT_EQ(map.at(2, 0), 1);
  EXPECT_EQ(map.at(3, 1), 1);
  EXPECT_EQ(map.at(4, 1), 2);
  EXPECT_EQ(map.at(7, 3), 6);
}

TEST(ClassMap, HasNoClassWhereTheModelDidNotLook) {
  const std::int32_t cells[] = {1, 2, 3, 4, 5, 6};
  const ClassMap map{place(), cells};

  EXPECT_EQ(map.at(1, 0), -1);
  EXPECT_EQ(map.at(8, 0), -1);
  EXPECT_EQ(map.at(2, -1), -1);
  EXPECT_EQ(map.at(2, 4), -1);
  EXPECT_EQ(ClassMap{}.at(0, 0), -1);
}

TEST(ClassMap, WhatRoundingMovesOverTheGridStaysOnIt) {
  const std::int32_t cells[] = {1, 2};
  const ClassMap map{{2, 1, 1, 1, 0.5, -0.6, {0, 0, 2, 1}}, cells};

  EXPECT_EQ(map.at(1, 0), 2);
}

TEST(DepthMap, IsBilinearBetweenTheCellsCentres) {
  const float cells[] = {0, 4, 8, 16, 20, 24};
  const DepthMap map{place(), DepthKind::kMetric, cells};

  EXPECT_FLOAT_EQ(map.at(2, 0), 0);  // beyond the outer centres: the nearest cell's
  EXPECT_FLOAT_EQ(map.at(3, 0), 1);  // a quarter of the way across
  EXPECT_FLOAT_EQ(map.at(4, 0), 3);  // three quarters
  EXPECT_FLOAT_EQ(map.at(3, 1), 5);  // and a quarter of the way down
  EXPECT_FLOAT_EQ(map.at(7, 3), 24);
}

TEST(DepthMap, IsNoNumberWhereTheModelDidNotLook) {
  const float cells[] = {0, 4, 8, 16, 20, 24};
  const DepthMap map{place(), DepthKind::kMetric, cells};

  EXPECT_TRUE(std::isnan(map.at(1, 0)));
  EXPECT_TRUE(std::isnan(map.at(2, 4)));
  EXPECT_TRUE(std::isnan(DepthMap{}.at(0, 0)));
}

TEST(DepthMap, ACellWithoutAShareIsNotRead) {
  const float cells[] = {1, kNan, 3};
  const DepthMap map{{3, 1, 1, 1, 0, 0, {0, 0, 3, 1}}, DepthKind::kRelative, cells};

  EXPECT_EQ(map.at(0, 0), 1);
  EXPECT_TRUE(std::isnan(map.at(1, 0)));
  EXPECT_EQ(map.at(2, 0), 3);
}

TEST(Names, OfTasksAndKindsOfDepth) {
  EXPECT_EQ(to_string(Task::kDetect), "detect");
  EXPECT_EQ(to_string(Task::kOriented), "obb");
  EXPECT_EQ(to_string(Task::kUpscale), "upscale");
  EXPECT_EQ(to_string(Task::kEmbed), "embed");
  EXPECT_EQ(to_string(Task::kText), "text");
  EXPECT_EQ(to_string(DepthKind::kRelative), "relative");
  EXPECT_EQ(to_string(DepthKind::kInverse), "inverse");
}

}  // namespace
}  // namespace saccade
