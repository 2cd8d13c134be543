#include "saccade/contours.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

namespace saccade {
namespace {

using Points = std::vector<std::array<int, 2>>;

std::vector<Points> trace(ContourTracer& tracer, std::span<const MaskRun> runs) {
  std::vector<Points> contours;
  for (const auto contour : tracer.trace({runs, 0})) {
    Points& points = contours.emplace_back();
    for (const ContourPoint& point : contour) points.push_back({point.x, point.y});
  }
  return contours;
}

std::vector<Points> trace(std::initializer_list<MaskRun> runs) {
  ContourTracer tracer;
  return trace(tracer, {runs.begin(), runs.size()});
}

TEST(Contours, OfARectangleAreItsCornerPixels) {
  EXPECT_EQ(trace({{5, 10, 14}, {6, 10, 14}, {7, 10, 14}}),
            std::vector<Points>({{{10, 5}, {10, 7}, {13, 7}, {13, 5}}}));
}

TEST(Contours, OfOnePixelAndOfALine) {
  EXPECT_EQ(trace({{3, 2, 3}}), std::vector<Points>({{{2, 3}}}));
  EXPECT_EQ(trace({{3, 2, 6}}), std::vector<Points>({{{2, 3}, {5, 3}}}));
}

TEST(Contours, OfAnEmptyMaskAreNone) { EXPECT_TRUE(trace({}).empty()); }

TEST(Contours, PixelsThatTouchByACornerAreOnePart) {
  EXPECT_EQ(trace({{0, 0, 1}, {1, 1, 2}}).size(), 1);
  EXPECT_EQ(trace({{0, 0, 1}, {1, 2, 3}}).size(), 2);
}

TEST(Contours, LeaveOutAHoleAndWhatLiesInIt) {
  const auto contours =
      trace({{0, 0, 5}, {1, 0, 1}, {1, 4, 5}, {2, 0, 1}, {2, 2, 3}, {2, 4, 5}, {3, 0, 1}, {3, 4, 5}, {4, 0, 5}});

  EXPECT_EQ(contours, std::vector<Points>({{{0, 0}, {0, 4}, {4, 4}, {4, 0}}}));
}

TEST(Contours, EqualOpenCvs) {
  std::ifstream file(SACCADE_SOURCE "/tests/vision/contours_cases.txt");
  std::string line;
  std::getline(file, line);
  ContourTracer tracer;
  int cases = 0;
  for (; std::getline(file, line); ++cases) {
    SCOPED_TRACE(cases);
    std::istringstream numbers(line);
    std::size_t size = 0;
    numbers >> size;
    std::vector<MaskRun> runs(size);
    for (MaskRun& run : runs) numbers >> run.y >> run.x1 >> run.x2;
    numbers >> size;
    std::vector<Points> expected(size);
    for (Points& points : expected) {
      numbers >> size;
      points.resize(size);
      for (auto& point : points) numbers >> point[0] >> point[1];
    }
    ASSERT_TRUE(numbers);

    ASSERT_EQ(trace(tracer, runs), expected);
  }
  EXPECT_EQ(cases, 114);
}

}  // namespace
}  // namespace saccade
