#include "vision/tracking/result_tracker.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace saccade {
namespace {

Detection object_at(float x, float confidence, int class_id = 0) {
  Detection object;
  object.box = {x, 10, x + 40, 70};
  object.class_id = class_id;
  object.confidence = confidence;
  return object;
}

/// A stream at 25 frames per second.
class ResultTracking : public testing::Test {
 protected:
  explicit ResultTracking(std::vector<float> thresholds = {0.5F})
      : tracker_(tracker_options("bytetrack:start=0.6,keep=1"), Thresholds(std::move(thresholds)), 25) {}

  /// The objects that are left.
  std::vector<Detection> frame(std::vector<Detection> detections) {
    Result result;
    result.timestamp_ns = time_ns_;
    result.detections = std::move(detections);
    tracker_.update(result, {});
    time_ns_ += 40'000'000;
    return result.detections;
  }
  /// The ID of an object at X that is found twice.
  std::int64_t confirmed(float x) {
    frame({object_at(x, 0.9F)});
    return frame({object_at(x, 0.9F)})[0].track_id;
  }

  ResultTracker tracker_;
  std::int64_t time_ns_ = 0;
};

TEST_F(ResultTracking, ObjectsOnConfirmedTracksHaveTheirIds) {
  EXPECT_EQ(frame({object_at(10, 0.9F), object_at(200, 0.9F)})[0].track_id, 0);
  const std::vector<Detection> found = frame({object_at(12, 0.9F), object_at(198, 0.9F)});
  EXPECT_EQ(found[0].track_id, 1);
  EXPECT_EQ(found[1].track_id, 2);
}

TEST_F(ResultTracking, ObjectsBelowTheThresholdAreLeftOnTracksAlone) {
  EXPECT_EQ(confirmed(10), 1);
  const std::vector<Detection> found = frame({object_at(11, 0.2F), object_at(300, 0.2F), object_at(200, 0.55F)});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].track_id, 1);
  EXPECT_EQ(found[0].confidence, 0.2F);
  EXPECT_EQ(found[1].track_id, 0);
  EXPECT_EQ(found[1].confidence, 0.55F);
}

/// An oriented box is associated by the box around it.
TEST_F(ResultTracking, WhatElseAnObjectHasStays) {
  for (int i = 0; i < 3; ++i) {
    Detection turned = object_at(static_cast<float>(10 + 2 * i), 0.9F);
    turned.oriented = OrientedBox{.x = 30, .y = 40, .width = 50, .height = 20, .angle = 0.3F * static_cast<float>(i)};
    Detection low = object_at(200, 0.2F);
    const std::vector<Detection> found = frame({low, turned});
    ASSERT_EQ(found.size(), 1U);
    ASSERT_TRUE(found[0].oriented);
    EXPECT_EQ(found[0].oriented->angle, turned.oriented->angle);
    EXPECT_EQ(found[0].track_id, i == 0 ? 0 : 1);
  }
}

TEST_F(ResultTracking, AThresholdIsExceeded) {
  EXPECT_EQ(frame({object_at(10, 0.5F)}).size(), 0U);
  EXPECT_EQ(frame({object_at(10, 0.51F)}).size(), 1U);
}

TEST_F(ResultTracking, TimestampsThatDoNotIncreaseAreOnePeriodApart) {
  EXPECT_EQ(confirmed(10), 1);
  time_ns_ = 0;  // the clock was set back
  EXPECT_EQ(frame({object_at(11, 0.9F)})[0].track_id, 1);
  for (int i = 0; i < 5; ++i) {
    time_ns_ = 0;  // images have none
    EXPECT_EQ(frame({object_at(12, 0.9F)})[0].track_id, 1);
  }
}

TEST_F(ResultTracking, TimeIsThatOfTheTimestamps) {
  EXPECT_EQ(confirmed(10), 1);
  time_ns_ += 2'000'000'000;  // longer than tracks are kept
  EXPECT_EQ(frame({object_at(10, 0.9F)})[0].track_id, 0);
}

class ResultTrackingByClass : public ResultTracking {
 protected:
  ResultTrackingByClass() : ResultTracking({0.5F, 0.8F}) {}
};

TEST_F(ResultTrackingByClass, EachClassHasItsThreshold) {
  const std::vector<Detection> found =
      frame({object_at(10, 0.55F), object_at(200, 0.55F, 1), object_at(400, 0.85F, 1)});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].class_id, 0);
  EXPECT_EQ(found[1].confidence, 0.85F);
}

}  // namespace
}  // namespace saccade
