#include "validate/against.hpp"

#include <gtest/gtest.h>

namespace saccade {
namespace {

Score score(const std::string& name, double value, const Score::Truth& truth = {"a.json", {"car", "bus"}}) {
  return {.name = name, .counted = "objects", .figures = {{"ap", value}}, .classes = {}, .truth = truth};
}

/// With constant headlines.
Evaluated evaluated(const std::string& name, const std::vector<Score>& scores) {
  Evaluated all{name, scores, {}};
  for (const Score& each : scores)
    all.headlines.push_back([value = each.headline()](std::span<const int>) { return value; });
  return all;
}

Against compare(const std::vector<Score>& ours, const std::vector<Score>& theirs) {
  return compare(evaluated("A", ours), evaluated("B", theirs), 4, 0.5, {});
}

TEST(Compare, GivesADifferenceForEachScoreOfTheReference) {
  const Against against = compare({score("mask", 0.5), score("box", 0.398)}, {score("box", 0.4), score("mask", 0.51)});
  ASSERT_EQ(against.differences.size(), 2U);
  EXPECT_EQ(against.differences[0].score, "box");
  EXPECT_EQ(against.differences[0].figure, "ap");
  EXPECT_NEAR(against.differences[0].points, -0.2, 1e-9);
  EXPECT_NEAR(against.differences[0].sets.interval->low, -0.2, 1e-9);
  EXPECT_TRUE(against.differences[0].holds);
  EXPECT_FALSE(against.differences[1].holds);
  EXPECT_FALSE(against.holds());
  EXPECT_TRUE(against.notes.empty());
}

TEST(Compare, WhatTheModelLacksCountsAsNothing) {
  for (const std::vector<Score>& ours :
       {std::vector{score("box", 0.4)}, std::vector{score("box", 0.4), score("mask", -1)}}) {
    const Against against = compare(ours, {score("box", 0.4), score("mask", 0.3)});
    ASSERT_EQ(against.differences.size(), 2U);
    EXPECT_NEAR(against.differences[1].points, -30, 1e-9);
    EXPECT_NEAR(against.differences[1].sets.interval->high, -30, 1e-9);
    EXPECT_FALSE(against.holds());
    ASSERT_EQ(against.notes.size(), 1U);
    EXPECT_EQ(against.notes[0], "mask: A predicts none, which counts as 0");
  }
  // Neither has data, or the reference has none.
  EXPECT_TRUE(compare({score("box", 0.4), score("mask", -1)}, {score("box", 0.4), score("mask", -1)}).holds());
  EXPECT_TRUE(compare({score("box", 0.4), score("mask", 0.1)}, {score("box", 0.4)}).holds());
}

TEST(Compare, FiguresOfOtherTruthsAreNotCompared) {
  const Against other_file = compare({score("box", 0.5), score("mask", 0.4)},
                                     {score("box", 0.5, {"b.json", {"car", "bus"}}), score("mask", 0.4)});
  ASSERT_EQ(other_file.differences.size(), 1U);
  EXPECT_EQ(other_file.differences[0].score, "mask");
  ASSERT_EQ(other_file.notes.size(), 1U);
  EXPECT_EQ(other_file.notes[0], "box: not compared, because A is evaluated with a.json, B with b.json");
  EXPECT_TRUE(other_file.holds());

  const Against other_classes = compare({score("box", 0.5)}, {score("box", 0.5, {"a.json", {"car"}})});
  EXPECT_TRUE(other_classes.differences.empty());
  ASSERT_EQ(other_classes.notes.size(), 1U);
  EXPECT_NE(other_classes.notes[0].find("A has 2 and B has 1"), std::string::npos) << other_classes.notes[0];
  EXPECT_FALSE(other_classes.holds());
}

}  // namespace
}  // namespace saccade
