#include "vision/zones/zone_geometry.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>
#include <vector>

namespace saccade {
namespace {

using Corners = std::vector<ZonePoint>;

TEST(ZoneGeometry, LeftIsUpOnTheWayToTheRight) {
  EXPECT_LT(turn_of({0, 5}, {10, 5}, {3, 4}), 0);
  EXPECT_GT(turn_of({0, 5}, {10, 5}, {3, 6}), 0);
  EXPECT_EQ(turn_of({0, 5}, {10, 5}, {30, 5}), 0);
}

TEST(ZoneGeometry, SegmentsMeetInsideAndAtTheirEnds) {
  EXPECT_TRUE(segments_meet({0, 0}, {4, 4}, {0, 4}, {4, 0}));
  EXPECT_TRUE(segments_meet({0, 0}, {2, 2}, {2, 2}, {5, 0}));   // end to end
  EXPECT_TRUE(segments_meet({2, 0}, {2, 2}, {0, 2}, {4, 2}));   // end in the middle
  EXPECT_TRUE(segments_meet({0, 0}, {4, 0}, {2, 0}, {6, 0}));   // one on the other
  EXPECT_TRUE(segments_meet({3, 0}, {3, 0}, {2, 0}, {6, 0}));   // a point on a segment
  EXPECT_FALSE(segments_meet({0, 0}, {1, 0}, {2, 0}, {6, 0}));  // behind each other
  EXPECT_FALSE(segments_meet({0, 0}, {4, 0}, {0, 1}, {4, 1}));
  EXPECT_FALSE(segments_meet({7, -1}, {7, 1}, {2, 0}, {6, 0}));  // crosses the extension
  EXPECT_FALSE(segments_meet({3, 1}, {3, 1}, {2, 0}, {6, 0}));
}

TEST(ZoneGeometry, APolygonContainsItsBorder) {
  const Corners square = {{2, 2}, {6, 2}, {6, 6}, {2, 6}};
  EXPECT_TRUE(polygon_contains(square, {4, 4}));
  EXPECT_TRUE(polygon_contains(square, {2, 4}));
  EXPECT_TRUE(polygon_contains(square, {6, 6}));
  EXPECT_TRUE(polygon_contains(square, {4, 2}));
  EXPECT_FALSE(polygon_contains(square, {1.999, 4}));
  EXPECT_FALSE(polygon_contains(square, {6.001, 6}));
  EXPECT_FALSE(polygon_contains(square, {0, 2}));  // on the extension of an edge
  EXPECT_FALSE(polygon_contains(square, {8, 6}));
}

TEST(ZoneGeometry, APolygonMayBeConcave) {
  const Corners u = {{0, 0}, {2, 0}, {2, 4}, {4, 4}, {4, 0}, {6, 0}, {6, 6}, {0, 6}};
  EXPECT_TRUE(polygon_contains(u, {1, 1}));
  EXPECT_TRUE(polygon_contains(u, {5, 1}));
  EXPECT_TRUE(polygon_contains(u, {3, 5}));
  EXPECT_FALSE(polygon_contains(u, {3, 1}));
}

/// Whether the angles at which the edges are seen from P add up to a full turn.
bool is_surrounded(const Corners& corners, ZonePoint p) {
  double sum = 0;
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const ZonePoint a = corners[i];
    const ZonePoint b = corners[(i + 1) % corners.size()];
    double angle = std::atan2(b.y - p.y, b.x - p.x) - std::atan2(a.y - p.y, a.x - p.x);
    while (angle > std::numbers::pi) angle -= 2 * std::numbers::pi;
    while (angle < -std::numbers::pi) angle += 2 * std::numbers::pi;
    sum += angle;
  }
  return std::abs(sum) > std::numbers::pi;
}

TEST(ZoneGeometry, RandomPointsInRandomStars) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> radius(1, 10);
  std::uniform_real_distribution<double> place(-11, 11);
  int inside = 0;
  for (int round = 0; round < 200; ++round) {
    Corners star;
    const std::size_t n = 3 + random() % 9;
    for (std::size_t i = 0; i < n; ++i) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n);
      const double r = radius(random);
      star.push_back({r * std::cos(angle), r * std::sin(angle)});
    }
    EXPECT_TRUE(is_simple_polygon(star));
    for (int i = 0; i < 50; ++i) {
      const ZonePoint p = {place(random), place(random)};
      const bool expected = is_surrounded(star, p);
      EXPECT_EQ(polygon_contains(star, p), expected) << p.x << ", " << p.y;
      inside += expected ? 1 : 0;
    }
  }
  EXPECT_GT(inside, 500);
}

TEST(ZoneGeometry, PolygonsThatCrossOrTouchThemselvesAreNotSimple) {
  EXPECT_TRUE(is_simple_polygon(Corners{{0, 0}, {4, 0}, {0, 4}}));
  EXPECT_TRUE(is_simple_polygon(Corners{{0, 0}, {2, 0}, {4, 0}, {4, 4}}));  // a corner on a straight edge
  EXPECT_FALSE(is_simple_polygon(Corners{{0, 0}, {4, 4}, {4, 0}, {0, 4}}));
  EXPECT_FALSE(is_simple_polygon(Corners{{0, 0}, {2, 0}, {4, 0}}));
  EXPECT_FALSE(is_simple_polygon(Corners{{0, 0}, {4, 0}, {4, 0}, {0, 4}}));
  EXPECT_FALSE(is_simple_polygon(Corners{{0, 0}, {4, 0}, {2, 0}, {0, 4}}));          // back on its own edge
  EXPECT_FALSE(is_simple_polygon(Corners{{0, 0}, {4, 0}, {4, 4}, {2, 0}, {0, 4}}));  // touches an edge
  EXPECT_FALSE(is_simple_polygon(Corners{{0, 0}, {4, 0}}));
}

TEST(ZoneGeometry, AnchorsAreOnTheBox) {
  const std::array<float, 4> box = {10, 20, 15, 40};
  const auto expect = [&](ZoneAnchor anchor, double x, double y) {
    EXPECT_EQ(anchor_of(box, anchor).x, x);
    EXPECT_EQ(anchor_of(box, anchor).y, y);
  };
  expect(ZoneAnchor::kBottom, 12.5, 40);
  expect(ZoneAnchor::kCenter, 12.5, 30);
  expect(ZoneAnchor::kTop, 12.5, 20);
  expect(ZoneAnchor::kLeft, 10, 30);
  expect(ZoneAnchor::kRight, 15, 30);
}

}  // namespace
}  // namespace saccade
