#include "pipeline/model/tile_grid.hpp"

#include <gtest/gtest.h>

#include <random>

#include "saccade/error.hpp"

namespace saccade {
namespace {

std::vector<int> begins(std::span<const TileSpan> tiles) {
  std::vector<int> found;
  for (const TileSpan& tile : tiles) found.push_back(tile.begin);
  return found;
}

// sahi.slicing.get_slice_bboxes(1080, 1920, 640, 640, False, 0.2, 0.2)
TEST(TileGrid, IsThatOfSahi) {
  TileGrid grid;
  grid.cover({0, 1920, 640, 128, 2}, {0, 1080, 640, 128, 2});
  EXPECT_EQ(begins(grid.columns()), (std::vector<int>{0, 512, 1024, 1280}));
  EXPECT_EQ(begins(grid.rows()), (std::vector<int>{0, 440}));
  EXPECT_EQ(grid.size(), 8U);
  EXPECT_EQ(grid[5].x, 512);
  EXPECT_EQ(grid[5].y, 440);
  EXPECT_EQ(grid[5].width, 640);
  EXPECT_EQ(grid[5].height, 640);
}

TEST(TileGrid, CoversEveryPixelWithTilesInside) {
  std::mt19937 random(5);
  const auto below = [&](int limit) { return static_cast<int>(random() % static_cast<unsigned>(limit)); };
  TileGrid grid;
  for (int round = 0; round < 500; ++round) {
    const int align = 1 + below(2);
    const int size = 32 + below(70);
    const int begin = align * below(50);
    const TileAxis axis{begin, begin + 1 + below(1000), size, below(size * 9 / 10 + 1), align};
    grid.cover(axis, axis);
    int end = begin;
    int last = -1;
    for (const TileSpan& tile : grid.columns()) {
      ASSERT_LE(tile.begin, end) << "a gap in round " << round;
      ASSERT_GT(tile.begin, last);
      ASSERT_EQ(tile.begin % align, 0);
      ASSERT_LE(tile.end, axis.end);
      const int wanted = std::min(size, axis.end - axis.begin);
      ASSERT_GE(tile.end - tile.begin, wanted);
      ASSERT_LT(tile.end - tile.begin, wanted + align);
      if (last >= 0) {
        ASSERT_GE(end - tile.begin, axis.overlap);
      }
      last = tile.begin;
      end = tile.end;
    }
    ASSERT_EQ(end, axis.end) << round;
  }
}

TEST(TileGrid, AFrameSmallerThanATileIsOneTile) {
  TileGrid grid;
  grid.cover({0, 100, 640, 128, 2}, {0, 641, 640, 128, 2});
  EXPECT_EQ(grid.columns().size(), 1U);
  EXPECT_EQ(grid.columns()[0].end, 100);
  ASSERT_EQ(grid.rows().size(), 1U);
  EXPECT_EQ(grid.rows()[0].end, 641) << "a second tile would begin at the same chroma sample";
}

TEST(TileGrid, RefusesAnEndlessNumber) {
  TileGrid grid;
  EXPECT_NO_THROW(grid.cover({0, 32, 32, 0, 2}, {0, 3'000'000, 32, 0, 2}));
  EXPECT_THROW(grid.cover({0, 32, 32, 0, 2}, {0, 4'000'000, 32, 0, 2}), Error);
}

}  // namespace
}  // namespace saccade
