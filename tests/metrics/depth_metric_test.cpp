#include "metrics/depth_metric.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace saccade {
namespace {

using Depths = std::vector<float>;

TEST(DepthScores, AreThoseOfTheirDefinitions) {
  const DepthScores scores = depth_scores(Depths{1, 2, 4, 10}, Depths{1.2F, 2, 5.2F, 10});
  EXPECT_NEAR(scores.abs_rel, (0.2 + 0 + 0.3 + 0) / 4, 1e-6);
  EXPECT_NEAR(scores.rmse, std::sqrt((0.04 + 1.44) / 4), 1e-6);
  EXPECT_NEAR(scores.delta1, 3.0 / 4, 1e-12);
}

TEST(DepthScores, LeaveOutWhatHasNoTruth) {
  const DepthScores scores = depth_scores(Depths{0, NAN, -1, INFINITY, 2}, Depths{1, 1, 1, 1, 2});
  EXPECT_EQ(scores.abs_rel, 0);
  EXPECT_EQ(scores.rmse, 0);
  EXPECT_EQ(scores.delta1, 1);
  EXPECT_EQ(depth_scores(Depths{0, INFINITY}, Depths{1, 1}).delta1, -1);
}

TEST(DepthScores, MissDelta1WithoutAPrediction) {
  const DepthScores scores = depth_scores(Depths{2, 2, 2, 2}, Depths{NAN, INFINITY, 3, 2});
  EXPECT_EQ(scores.delta1, 0.25);
  EXPECT_EQ(scores.abs_rel, 0.25);
  EXPECT_EQ(depth_scores(Depths{2}, Depths{NAN}).delta1, 0);
  EXPECT_EQ(depth_scores(Depths{2}, Depths{NAN}).abs_rel, -1);
}

TEST(AlignDepth, BringsARelativeDepthToTheTruth) {
  const Depths truth = {1, 2, 4, 0, 10};
  Depths found = {0.1F, 0.2F, 0.4F, 9, 1};  // truth / 10, but for the pixel without truth
  for (float& value : found) value = 3 * value + 7;
  align_depth(DepthKind::kRelative, truth, found);
  for (const std::size_t i : {0U, 1U, 2U, 4U}) EXPECT_NEAR(found[i], truth[i], 1e-4);
}

TEST(AlignDepth, BringsAnInverseDepthToTheInverseOfTheTruth) {
  const Depths truth = {1, 2, 4, 10};
  Depths found;
  for (const float depth : truth) found.push_back(5 / depth - 2);
  align_depth(DepthKind::kInverse, truth, found);
  for (std::size_t i = 0; i < truth.size(); ++i) EXPECT_NEAR(found[i], truth[i], 1e-3);
}

TEST(AlignDepth, ClampsNegativeInverseDepthToTheFarthest) {
  const Depths truth = {1, 1, 10, 10, 0};
  Depths found = {1, 1, 0.1F, 0.1F, -3};
  align_depth(DepthKind::kInverse, truth, found);
  EXPECT_NEAR(found[4], 10, 1e-4);
}

TEST(AlignDepth, LeavesAMetricDepthAndTakesTheMeanForALevelOne) {
  const Depths truth = {1, 3};
  Depths metric = {2, 2};
  align_depth(DepthKind::kMetric, truth, metric);
  EXPECT_EQ(metric, (Depths{2, 2}));
  Depths level = {5, 5};
  align_depth(DepthKind::kRelative, truth, level);
  EXPECT_EQ(level, (Depths{2, 2}));
}

TEST(MeanDepthScores, IsOverTheImagesThatHaveTheFigure) {
  const DepthScores images[] = {{0.1, 1, 0.9}, {}, {0.3, 3, 0.5}};
  EXPECT_NEAR(mean(images).abs_rel, 0.2, 1e-12);
  const int times[] = {3, 1, 1};
  EXPECT_NEAR(mean(images, times).delta1, 0.8, 1e-12);
  EXPECT_EQ(mean(std::span(images).subspan(1, 1)).rmse, -1);
  const DepthScores without_prediction[] = {{0.1, 1, 0.9}, {-1, -1, 0}};
  EXPECT_NEAR(mean(without_prediction).abs_rel, 0.1, 1e-12);
  EXPECT_NEAR(mean(without_prediction).delta1, 0.45, 1e-12);
}

}  // namespace
}  // namespace saccade
