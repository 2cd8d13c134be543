#include "vision/polygon.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "saccade/error.hpp"
#include "vision/run_lengths.hpp"

namespace saccade {
namespace {

bool operator==(const MaskRun& a, const MaskRun& b) { return a.y == b.y && a.x1 == b.x1 && a.x2 == b.x2; }

bool same(std::span<const MaskRun> a, std::span<const MaskRun> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const MaskRun& x, const MaskRun& y) { return x == y; });
}

TEST(Polygon, FillsWhatLiesInside) {
  const double corners[] = {1, 1, 4, 1, 4, 3, 1, 3};
  // Columns of four: one row is outside, two are inside, one is outside.
  EXPECT_EQ(polygon_counts(corners, 6, 4), (std::vector<std::int64_t>{5, 2, 2, 2, 2, 2, 9}));
}

TEST(Polygon, EqualsPycocotoolsToThePixel) {
  std::ifstream file(SACCADE_SOURCE "/tests/vision/polygon_cases.txt");
  std::string word;
  std::getline(file, word);
  int cases = 0;
  int width = 0;
  for (; file >> width; ++cases) {
    SCOPED_TRACE(cases);
    int height = 0;
    std::size_t numbers = 0;
    file >> height >> numbers;
    std::vector<double> corners(numbers);
    for (double& corner : corners) file >> corner;
    file >> word;
    RunLengths ours;
    RunLengths theirs;
    EXPECT_TRUE(same(ours.decode(polygon_counts(corners, width, height), width, height).runs,
                     theirs.decode(word, width, height).runs));
  }
  EXPECT_EQ(cases, 70);
}

TEST(Polygon, RefusesInvalidPolygons) {
  const double line[] = {0, 0, 5, 5};
  const double odd[] = {0, 0, 5, 5, 3, 3, 1};
  const double far[] = {0, 0, 5e9, 5, 3, 3};
  EXPECT_THROW(polygon_counts(line, 10, 10), Error);
  EXPECT_THROW(polygon_counts(odd, 10, 10), Error);
  EXPECT_THROW(polygon_counts(far, 10, 10), Error);
}

TEST(United, HoldsThePixelsOfEither) {
  const MaskRun a[] = {{0, 0, 4}, {0, 8, 9}, {2, 1, 2}};
  const MaskRun b[] = {{0, 2, 6}, {1, 0, 1}, {2, 2, 3}};
  const MaskRun either[] = {{0, 0, 6}, {0, 8, 9}, {1, 0, 1}, {2, 1, 3}};
  EXPECT_TRUE(same(united(a, b), either));
}

}  // namespace
}  // namespace saccade
