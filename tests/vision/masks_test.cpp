#include "saccade/masks.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <random>
#include <string>

#include "saccade/error.hpp"

namespace saccade {
namespace {

using Rows = std::vector<std::string>;

/// The runs of '#' in ROWS.
std::vector<MaskRun> runs_of(const Rows& rows) {
  std::vector<MaskRun> runs;
  for (std::size_t y = 0; y < rows.size(); ++y)
    for (std::size_t x = 0; x < rows[y].size(); ++x) {
      if (rows[y][x] != '#') continue;
      const std::size_t first = x;
      while (x < rows[y].size() && rows[y][x] == '#') ++x;
      runs.push_back({static_cast<int>(y), static_cast<int>(first), static_cast<int>(x)});
    }
  return runs;
}

Rows rows_of(const Image& image) {
  Rows rows(static_cast<std::size_t>(image.height()));
  for (std::size_t i = 0; i < image.samples().size(); ++i)
    rows[i / static_cast<std::size_t>(image.width())] += image.samples()[i] == 0 ? '.' : '#';
  return rows;
}

/// RINGS filled by the even-odd rule: a pixel is inside if an odd number of vertical edges is to its left.
Rows fill_rings(const std::vector<Polygon>& polygons, int width, int height) {
  std::map<std::pair<int, int>, int> edges;  // by x and y of the pixel to the right
  const auto add = [&](const Ring& ring) {
    for (std::size_t i = 0; i < ring.size(); ++i) {
      const ContourPoint& a = ring[i];
      const ContourPoint& b = ring[(i + 1) % ring.size()];
      ASSERT_TRUE((a.x == b.x) != (a.y == b.y)) << "neither horizontal nor vertical";
      for (int y = std::min(a.y, b.y); y < std::max(a.y, b.y); ++y) ++edges[{a.x, y}];
    }
  };
  for (const Polygon& polygon : polygons) {
    add(polygon.outline);
    for (const Ring& hole : polygon.holes) add(hole);
  }
  Rows rows(static_cast<std::size_t>(height));
  for (int y = 0; y < height; ++y) {
    int crossed = 0;
    for (int x = 0; x < width; ++x) {
      crossed += edges[{x, y}];
      rows[static_cast<std::size_t>(y)] += crossed % 2 == 0 ? '.' : '#';
    }
  }
  return rows;
}

/// Twice the area of RING, positive if it is clockwise on the screen.
std::int64_t area2(const Ring& ring) {
  std::int64_t area = 0;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const ContourPoint& a = ring[i];
    const ContourPoint& b = ring[(i + 1) % ring.size()];
    area += std::int64_t{a.x} * b.y - std::int64_t{b.x} * a.y;
  }
  return area;
}

std::vector<std::array<int, 2>> points(const Ring& ring) {
  std::vector<std::array<int, 2>> all;
  for (const ContourPoint& point : ring) all.push_back({point.x, point.y});
  return all;
}

TEST(Masks, ABitmapHasThePixels) {
  const Rows rows = {".##.", "....", "#..#"};
  const auto runs = runs_of(rows);
  const Image image = to_bitmap({runs, 4}, 4, 3);

  EXPECT_EQ(image.format(), PixelFormat::kGray8);
  EXPECT_EQ(rows_of(image), rows);
  EXPECT_EQ(image.samples()[1], 255);
}

TEST(Masks, ABitmapOmitsWhatIsBeyondIt) {
  const std::vector<MaskRun> runs = {{-1, 0, 2}, {0, -3, 1}, {1, 1, 9}, {2, 5, 7}, {3, 0, 2}};

  EXPECT_EQ(rows_of(to_bitmap({runs, 0}, 3, 3)), Rows({"#..", ".##", "..."}));
  EXPECT_THROW(to_bitmap({runs, 0}, 0, 3), Error);
}

TEST(Masks, APolygonHasTheCornersOfPixels) {
  const std::vector<MaskRun> runs = {{5, 10, 14}, {6, 10, 14}};
  const auto polygons = to_polygons({runs, 8});

  ASSERT_EQ(polygons.size(), 1U);
  EXPECT_EQ(points(polygons[0].outline), (std::vector<std::array<int, 2>>{{10, 5}, {14, 5}, {14, 7}, {10, 7}}));
  EXPECT_TRUE(polygons[0].holes.empty());
}

TEST(Masks, AHoleBelongsToThePolygonAroundItAndItsIslandDoesNot) {
  const auto runs = runs_of({"#######", "#.....#", "#.###.#", "#.#.#.#", "#.###.#", "#.....#", "#######"});
  const auto polygons = to_polygons({runs, 0});

  ASSERT_EQ(polygons.size(), 2U);
  EXPECT_EQ(area2(polygons[0].outline), 2 * 49);
  ASSERT_EQ(polygons[0].holes.size(), 1U);
  EXPECT_EQ(area2(polygons[0].holes[0]), -2 * 25);
  EXPECT_EQ(area2(polygons[1].outline), 2 * 9);
  ASSERT_EQ(polygons[1].holes.size(), 1U);
  EXPECT_EQ(area2(polygons[1].holes[0]), -2);
}

TEST(Masks, PixelsThatTouchByACornerAreOnePolygon) {
  EXPECT_EQ(to_polygons({runs_of({"#.", ".#"}), 0}).size(), 1U);
  EXPECT_EQ(to_polygons({runs_of({"#..", "..#"}), 0}).size(), 2U);
  EXPECT_EQ(to_polygons({runs_of({".#.", "#.#", ".#."}), 0})[0].holes.size(), 1U);
}

TEST(Masks, AnEmptyOneHasNoPolygons) { EXPECT_TRUE(to_polygons({}).empty()); }

TEST(Masks, PolygonsFilledAreTheMask) {
  std::mt19937 random(7);
  for (int round = 0; round < 400; ++round) {
    SCOPED_TRACE(round);
    const int width = 1 + static_cast<int>(random() % 12);
    const int height = 1 + static_cast<int>(random() % 12);
    Rows rows(static_cast<std::size_t>(height), std::string(static_cast<std::size_t>(width), '.'));
    const unsigned density = 1 + random() % 9;
    for (std::string& row : rows)
      for (char& pixel : row) pixel = random() % 10 < density ? '#' : '.';
    const auto runs = runs_of(rows);
    const auto polygons = to_polygons({runs, 0});
    ASSERT_EQ(fill_rings(polygons, width, height), rows);
    ContourTracer tracer;
    ASSERT_GE(polygons.size(), tracer.trace({runs, 0}).size());  // those inside of holes have no contour
    for (const Polygon& polygon : polygons) {
      ASSERT_GT(area2(polygon.outline), 0);
      for (const Ring& hole : polygon.holes) ASSERT_LT(area2(hole), 0);
    }
  }
}

TEST(Masks, HaveRunLengthsInColumns) {
  // pycocotools: encode(asfortranarray([[0, 1, 1], [0, 1, 0]])): outside 2, inside 3, outside 1
  const auto runs = runs_of({".##", ".#."});
  EXPECT_EQ(to_coco_counts({runs, 3}, 3, 2), "231");
  EXPECT_EQ(to_coco_counts({runs, 3}, 2, 2), "22") << "clipped to the image";
  EXPECT_EQ(to_coco_counts({}, 3, 2), "6");
  EXPECT_THROW((void)to_coco_counts({}, 0, 2), Error);
}

}  // namespace
}  // namespace saccade
