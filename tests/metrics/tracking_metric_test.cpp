#include "metrics/tracking_metric.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <sstream>
#include <string>

#include "saccade/error.hpp"

namespace saccade {
namespace {

TrackedObjects objects_of(std::istream& lines) {
  std::string line;
  std::getline(lines, line);
  std::istringstream words(line);
  TrackedObjects objects;
  std::size_t count = 0;
  for (words >> count; count > 0; --count) {
    words >> objects.ids.emplace_back();
    for (double& side : objects.boxes.emplace_back()) words >> side;
  }
  EXPECT_FALSE(words.fail()) << line;
  return objects;
}

TEST(TrackingMetric, EqualsTrackEval) {
  std::ifstream lines(SACCADE_SOURCE "/tests/metrics/tracking_cases.txt");
  int cases = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("case ")) continue;
    SCOPED_TRACE(line);
    ++cases;
    std::istringstream words(line.substr(5));
    int sequences = 0;
    words >> sequences;
    TrackingMetric metric;
    for (; sequences > 0; --sequences) {
      std::getline(lines, line);
      std::vector<TrackedObjects> truth;
      std::vector<TrackedObjects> found;
      for (int frames = std::stoi(line); frames > 0; --frames) {
        truth.push_back(objects_of(lines));
        found.push_back(objects_of(lines));
      }
      metric.add(truth, found);
    }
    const TrackingScores scores = metric.scores();
    for (const double score :
         {scores.hota, scores.detection_accuracy, scores.association_accuracy, scores.idf1, scores.mota,
          static_cast<double>(scores.switches), static_cast<double>(scores.false_positives),
          static_cast<double>(scores.false_negatives)}) {
      double wanted = 0;
      words >> wanted;
      EXPECT_NEAR(score, wanted, 1e-12);
    }
  }
  EXPECT_EQ(cases, 7);
}

TrackedObjects one(std::int64_t id, double x = 0) { return {.ids = {id}, .boxes = {{x, 0, x + 10, 10}}}; }

TEST(TrackingMetric, IsOneForTheTruth) {
  const std::vector<TrackedObjects> frames = {one(3), one(3, 5), one(3, 10)};
  TrackingMetric metric;
  metric.add(frames, frames);
  EXPECT_NEAR(metric.scores().hota, 1, 1e-12);
  EXPECT_NEAR(metric.scores().idf1, 1, 1e-12);
  EXPECT_NEAR(metric.scores().mota, 1, 1e-12);
}

TEST(TrackingMetric, CountsASwitch) {
  TrackingMetric metric;
  metric.add(std::vector{one(1), one(1), one(1), one(1)}, std::vector{one(7), one(7), one(8), one(8)});
  EXPECT_EQ(metric.scores().switches, 1);
  EXPECT_NEAR(metric.scores().idf1, 0.5, 1e-12);
  EXPECT_NEAR(metric.scores().mota, 0.75, 1e-12);
}

TEST(TrackingMetric, RefusesWhatIsNoSequence) {
  TrackingMetric metric;
  EXPECT_THROW(metric.add(std::vector{one(1)}, {}), Error);
  const TrackedObjects twice{.ids = {1, 1}, .boxes = {{0, 0, 1, 1}, {2, 2, 3, 3}}};
  EXPECT_THROW(metric.add(std::vector{one(1)}, std::vector{twice}), Error);
  const TrackedObjects endless = one(1, std::numeric_limits<double>::infinity());
  EXPECT_THROW(metric.add(std::vector{one(1)}, std::vector{endless}), Error);
  const TrackedObjects short_of_boxes{.ids = {1, 2}, .boxes = {{0, 0, 1, 1}}};
  EXPECT_THROW(metric.add(std::vector{one(1)}, std::vector{short_of_boxes}), Error);
}

}  // namespace
}  // namespace saccade
