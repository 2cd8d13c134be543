#include "vision/thresholds.hpp"

#include <gtest/gtest.h>

#include "vision/decoders.hpp"

namespace saccade {
namespace {

Head head_of(Task task, std::vector<float> conf) {
  static const auto decoder_for = [](Task wanted) {
    for (const Decoder* each : decoders())
      if (each->task == wanted) return each;
    return static_cast<const Decoder*>(nullptr);
  };
  Head head;
  head.decoder = decoder_for(task);
  head.conf = std::move(conf);
  return head;
}

TEST(Thresholds, AreTheOptionsElseTheCardsElseTheUsualOne) {
  EXPECT_EQ(result_thresholds(head_of(Task::kDetect, {}), {}).of(7), kUsualConfidence);
  const Thresholds by_class = result_thresholds(head_of(Task::kDetect, {0.3F, 0.6F}), {});
  EXPECT_EQ(by_class.of(1), 0.6F);
  EXPECT_EQ(by_class.of(9), 0.3F);  // a class that the card lacks
  EXPECT_EQ(by_class.least(), 0.3F);
  EXPECT_EQ(result_thresholds(head_of(Task::kDetect, {0.3F, 0.6F}), {.confidence = 0.5F}).of(1), 0.5F);
}

TEST(Thresholds, OfTheGraphAreLowerForByteTrack) {
  PostprocessOptions options;
  options.tracker = tracker_options("bytetrack:low=0.4");
  const Thresholds lower = graph_thresholds(head_of(Task::kDetect, {0.3F, 0.6F}), options);
  EXPECT_EQ(lower.of(0), 0.3F);
  EXPECT_EQ(lower.of(1), 0.4F);
  EXPECT_EQ(graph_thresholds(head_of(Task::kDetect, {}), options).least(), kUsualConfidence);
  options.tracker = tracker_options("bytetrack");
  EXPECT_FLOAT_EQ(graph_thresholds(head_of(Task::kPose, {}), options).least(), 0.1F);
  EXPECT_EQ(graph_thresholds(head_of(Task::kClassify, {}), options).least(), kUsualConfidence);
  options.tracker = tracker_options("sort");
  EXPECT_EQ(graph_thresholds(head_of(Task::kDetect, {}), options).least(), kUsualConfidence);
}

}  // namespace
}  // namespace saccade
