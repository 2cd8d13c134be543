#include "metrics/segmentation_metric.hpp"

#include <gtest/gtest.h>

namespace saccade {
namespace {

using Found = std::vector<std::int32_t>;
using Truth = std::vector<std::uint16_t>;

TEST(SegmentationMetric, IsTheMeanOverTheClassesThatThereAre) {
  SegmentationMetric metric(5);
  metric.add(Found{0, 0, 1, 1}, Truth{0, 0, 0, 1});
  // Class 0: 2 of 3; class 1: 1 of 2; classes 2 to 4 are nowhere.
  EXPECT_NEAR(metric.scores().mean_iou, (2.0 / 3 + 1.0 / 2) / 2, 1e-12);
  EXPECT_NEAR(metric.scores().accuracy, 3.0 / 4, 1e-12);
  EXPECT_EQ(metric.class_scores(0).pixels, 3);
  EXPECT_NEAR(metric.class_scores(1).iou, 0.5, 1e-12);
  EXPECT_EQ(metric.class_scores(4).iou, -1);
}

TEST(SegmentationMetric, CountsPixelsOverAllImagesTogether) {
  SegmentationMetric metric(2);
  metric.add(Found{0, 0, 0, 0}, Truth{0, 0, 0, 0});
  metric.add(Found{0, 1}, Truth{1, 1});
  EXPECT_NEAR(metric.class_scores(0).iou, 4.0 / 5, 1e-12);
  EXPECT_NEAR(metric.class_scores(1).iou, 1.0 / 2, 1e-12);
  const int second[] = {0, 3};
  EXPECT_NEAR(metric.scores(second).mean_iou, (0 + 0.5) / 2, 1e-12);
}

TEST(SegmentationMetric, IgnoresIgnoredPixelsAndCountsUnseenOnesAsWrong) {
  SegmentationMetric metric(2);
  metric.add(Found{0, 1, -1, 0}, Truth{0, 255, 0, 255});
  EXPECT_NEAR(metric.class_scores(0).iou, 0.5, 1e-12);
  EXPECT_EQ(metric.class_scores(1).iou, -1);
  EXPECT_NEAR(metric.scores().accuracy, 0.5, 1e-12);
}

TEST(SegmentationMetric, HasNoFiguresWithoutPixels) {
  SegmentationMetric metric(2);
  metric.add(Found{0}, Truth{255});
  EXPECT_EQ(metric.scores().mean_iou, -1);
  EXPECT_EQ(metric.scores().accuracy, -1);
}

}  // namespace
}  // namespace saccade
