#include "vision/zones/line_crossing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "vision/zones/line_reference.hpp"

namespace saccade {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr milliseconds kHold(300);
// From the left to the right at a height of 50 pixels: "in" is up.
constexpr LineSegment kGate = {.from = {100, 50}, .to = {200, 50}, .hold = kHold};

/// One sighting.
struct Sighting {
  int time = 0;  ///< milliseconds
  double x = 0;
  double y = 0;
};

/// "in 400 since 100", ..., for each time at which a crossing counts.
std::string crossings(const std::vector<Sighting>& path, const LineSegment& line = kGate) {
  LineCrossing crossing;
  std::string text;
  for (const Sighting& at : path) {
    const auto crossed = crossing.move(line, {at.x, at.y}, milliseconds(at.time));
    if (!crossed) continue;
    const auto since = std::chrono::duration_cast<milliseconds>(crossed->since).count();
    text += std::string(text.empty() ? "" : ", ") + std::string(to_string(crossed->kind)) + " " +
            std::to_string(at.time) + " since " + std::to_string(since);
  }
  return text;
}

TEST(LineCrossing, CountsOnceTheObjectHasStayedOnTheFarSide) {
  EXPECT_EQ(crossings({{0, 150, 60}, {100, 150, 40}, {200, 150, 40}, {399, 150, 40}}), "");
  EXPECT_EQ(crossings({{0, 150, 60}, {100, 150, 40}, {200, 150, 40}, {400, 150, 40}, {900, 150, 40}}),
            "in 400 since 100");
  EXPECT_EQ(crossings({{0, 150, 40}, {100, 150, 60}, {400, 150, 60}}), "out 400 since 100");
}

TEST(LineCrossing, InIsToTheLeftOfTheWayFromItsFirstEndToItsSecond) {
  const std::vector<Sighting> up = {{0, 150, 60}, {100, 150, 40}, {400, 150, 40}};
  EXPECT_EQ(crossings(up), "in 400 since 100");
  EXPECT_EQ(crossings(up, {.from = {200, 50}, .to = {100, 50}, .hold = kHold}), "out 400 since 100");
}

TEST(LineCrossing, CountsAgainOnTheWayBack) {
  EXPECT_EQ(crossings({{0, 150, 60}, {100, 150, 40}, {400, 150, 40}, {500, 150, 60}, {800, 150, 60}}),
            "in 400 since 100, out 800 since 500");
}

TEST(LineCrossing, FlickerCountsNothing) {
  std::vector<Sighting> path;
  for (int i = 0; i < 100; ++i) path.push_back({40 * i, 150, i % 2 == 0 ? 51.0 : 49.0});
  EXPECT_EQ(crossings(path), "");
  // Once it ends on the far side, it is one crossing, from the last change on.
  for (int i = 100; i < 120; ++i) path.push_back({40 * i, 150, 49});
  EXPECT_EQ(crossings(path), "in 4280 since 3960");
}

TEST(LineCrossing, AReturnBeforeHoldCancels) {
  EXPECT_EQ(crossings({{0, 150, 60}, {100, 150, 40}, {399, 150, 60}, {400, 150, 60}, {2000, 150, 60}}), "");
  // The next attempt has its own time.
  EXPECT_EQ(crossings({{0, 150, 60}, {100, 150, 40}, {300, 150, 60}, {350, 150, 40}, {500, 150, 40}, {650, 150, 40}}),
            "in 650 since 350");
}

TEST(LineCrossing, AStopOnTheLineIsOnNeitherSide) {
  EXPECT_EQ(crossings({{0, 150, 60}, {100, 150, 50}, {5000, 150, 50}, {9000, 150, 50}}), "");
  EXPECT_EQ(crossings({{0, 150, 60}, {100, 150, 50}, {5000, 150, 50}, {5100, 150, 60}, {9000, 150, 60}}), "");
  EXPECT_EQ(crossings({{0, 150, 60}, {100, 150, 50}, {5000, 150, 50}, {5100, 150, 40}, {5400, 150, 40}}),
            "in 5400 since 5100");
  // Back on the line before hold: the stay on the far side begins again.
  EXPECT_EQ(crossings({{0, 150, 60}, {100, 150, 40}, {300, 150, 50}, {400, 150, 40}, {600, 150, 40}, {700, 150, 40}}),
            "in 700 since 400");
}

TEST(LineCrossing, ATrackThatBeginsOnTheLineHasNotCrossedIt) {
  EXPECT_EQ(crossings({{0, 150, 50}, {100, 150, 40}, {900, 150, 40}}), "");
  EXPECT_EQ(crossings({{0, 150, 50}, {100, 150, 40}, {900, 150, 60}, {1200, 150, 60}}), "out 1200 since 900");
}

TEST(LineCrossing, ThePathMustMeetTheSegment) {
  EXPECT_EQ(crossings({{0, 201, 60}, {100, 201, 40}, {900, 201, 40}}), "");
  EXPECT_EQ(crossings({{0, 99, 60}, {100, 99, 40}, {900, 99, 40}}), "");
  // The ends belong to it.
  EXPECT_EQ(crossings({{0, 200, 60}, {100, 200, 40}, {400, 200, 40}}), "in 400 since 100");
  EXPECT_EQ(crossings({{0, 100, 60}, {100, 100, 40}, {400, 100, 40}}), "in 400 since 100");
  // A slanted step past the end.
  EXPECT_EQ(crossings({{0, 190, 60}, {100, 220, 40}, {900, 220, 40}}), "");
  EXPECT_EQ(crossings({{0, 180, 60}, {100, 220, 40}, {400, 220, 40}}), "in 400 since 100");
}

TEST(LineCrossing, AroundAnEndAndBackIsNoCrossing) {
  const std::vector<Sighting> around = {{0, 190, 60},    {500, 210, 60},  {1000, 210, 40},
                                        {1500, 190, 40}, {2000, 210, 40}, {2500, 210, 60}};
  EXPECT_EQ(crossings(around), "");
  // Around the end to the far side, and from there through the segment.
  EXPECT_EQ(
      crossings({{0, 190, 60}, {500, 210, 60}, {1000, 210, 40}, {1500, 190, 40}, {2000, 190, 60}, {2300, 190, 60}}),
      "out 2300 since 2000");
  // Through it and around, before hold: back where it was.
  EXPECT_EQ(crossings({{0, 195, 60}, {100, 195, 40}, {200, 205, 40}, {300, 205, 60}, {900, 205, 60}}), "");
  EXPECT_EQ(crossings({{0, 205, 60}, {100, 205, 40}, {200, 195, 40}, {300, 195, 60}, {900, 195, 60}}), "");
}

TEST(LineCrossing, OnTheExtensionOfTheLineItHasNotMetTheSegment) {
  EXPECT_EQ(crossings({{0, 220, 60}, {100, 220, 50}, {200, 220, 40}, {900, 220, 40}}), "");
  // Along the line from its extension to the segment it has.
  EXPECT_EQ(crossings({{0, 220, 60}, {100, 220, 50}, {200, 150, 50}, {300, 150, 40}, {600, 150, 40}}),
            "in 600 since 300");
}

TEST(LineCrossing, ALongStepMeetsWhatIsBetween) {
  EXPECT_EQ(crossings({{0, 150, 4000}, {40, 150, -4000}, {340, 150, -4000}}), "in 340 since 40");
}

TEST(LineCrossing, AGapJoinsTheLastPositionWithTheNext) {
  EXPECT_EQ(crossings({{0, 150, 60}, {5000, 150, 40}, {5299, 150, 40}}), "");
  EXPECT_EQ(crossings({{0, 150, 60}, {5000, 150, 40}, {5300, 150, 40}}), "in 5300 since 5000");
  // It takes a sighting after hold, whenever that is.
  EXPECT_EQ(crossings({{0, 150, 60}, {100, 150, 40}, {5000, 150, 40}}), "in 5000 since 100");
  EXPECT_EQ(crossings({{0, 150, 60}, {100, 150, 40}, {5000, 150, 60}, {6000, 150, 60}}), "");
}

TEST(LineCrossing, WithoutHoldItCountsAtOnce) {
  LineSegment gate = kGate;
  gate.hold = {};
  EXPECT_EQ(crossings({{0, 150, 60}, {40, 150, 40}, {80, 150, 60}}, gate), "in 40 since 40, out 80 since 80");
}

TEST(LineCrossing, AJumpOfTheClockBeginsTheStayAgain) {
  LineCrossing crossing;
  EXPECT_FALSE(crossing.move(kGate, {150, 60}, milliseconds(0)));
  EXPECT_FALSE(crossing.move(kGate, {150, 40}, milliseconds(100)));
  crossing.break_time();
  EXPECT_FALSE(crossing.move(kGate, {150, 40}, milliseconds(100)));
  EXPECT_FALSE(crossing.move(kGate, {150, 40}, milliseconds(399)));
  EXPECT_TRUE(crossing.move(kGate, {150, 40}, milliseconds(400)));
}

using test::Grid;
using test::Step;

// Points of random paths on a small grid are often on the line.
TEST(LineCrossing, RandomPathsAreAsTheReferenceSays) {
  std::mt19937 random(11);
  std::size_t total = 0;
  for (int round = 0; round < 3000; ++round) {
    const auto pick = [&](std::int64_t most) {
      return static_cast<std::int64_t>(random() % static_cast<unsigned>(most + 1));
    };
    Grid grid{pick(6), pick(6), pick(6), pick(6)};
    if (grid.length() == 0) continue;
    const LineSegment line = {.from = {static_cast<double>(grid.from_x), static_cast<double>(grid.from_y)},
                              .to = {static_cast<double>(grid.to_x), static_cast<double>(grid.to_y)},
                              .hold = milliseconds(100 * pick(4))};
    std::vector<Step> path;
    Step at{0, pick(6), pick(6)};
    for (int i = 0; i < 60; ++i) {
      path.push_back(at);
      at = {at.time + 50 * pick(3), at.x + pick(4) - 2, at.y + pick(4) - 2};
      at.x = std::clamp<std::int64_t>(at.x, 0, 6);
      at.y = std::clamp<std::int64_t>(at.y, 0, 6);
    }
    LineCrossing crossing;
    std::vector<std::pair<std::size_t, int>> counted;
    for (std::size_t i = 0; i < path.size(); ++i)
      if (const auto crossed = crossing.move(line, {static_cast<double>(path[i].x), static_cast<double>(path[i].y)},
                                             milliseconds(path[i].time)))
        counted.emplace_back(i, crossed->kind == ZoneEventKind::kIn ? -1 : 1);
    const std::int64_t hold = std::chrono::duration_cast<milliseconds>(line.hold).count();
    ASSERT_EQ(counted, test::counted_crossings(path, grid, hold)) << "round " << round;
    total += counted.size();
  }
  EXPECT_GT(total, 3000U);
}

}  // namespace
}  // namespace saccade
