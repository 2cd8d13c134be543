#include "metrics/detection_metric.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>

#include "vision/run_lengths.hpp"

namespace saccade {
namespace {

TEST(Overlap, IsTheCommonShareOfTheUnion) {
  const CocoBox a{0, 0, 10, 10};
  EXPECT_DOUBLE_EQ(overlap(a, {5, 0, 10, 10}, false), 50.0 / 150);
  EXPECT_DOUBLE_EQ(overlap(a, {0, 0, 100, 100}, true), 1);
  EXPECT_EQ(overlap(a, {10, 0, 5, 5}, false), 0);
}

TEST(DetectionMetric, IsOneForPerfectPredictionsAndMinusOneWithoutObjects) {
  DetectionMetric metric(2);
  const TrueObject car{{10, 10, 50, 50}, 1, 2500};
  const FoundObject right{{10, 10, 50, 50}, 1, 0.9};
  metric.add({&car, 1}, {&right, 1});
  EXPECT_NEAR(metric.scores().ap, 1, 1e-12);
  EXPECT_NEAR(metric.class_scores(1).ap50, 1, 1e-12);
  EXPECT_EQ(metric.class_scores(0).ap, -1);
  EXPECT_EQ(metric.scores().ap_small, -1);
}

TEST(DetectionMetric, HalfOfTheObjectsFoundReadsAsFiftyOneOfAHundredAndOneRecalls) {
  DetectionMetric metric(1);
  const TrueObject objects[] = {{{0, 0, 40, 40}, 0, 1600}, {{100, 0, 40, 40}, 0, 1600}};
  const FoundObject right{{0, 0, 40, 40}, 0, 0.9};
  metric.add(objects, {&right, 1});
  EXPECT_NEAR(metric.scores().ap50, 51.0 / 101, 1e-12);
  EXPECT_NEAR(metric.scores().ar, 0.5, 1e-12);
}

TEST(DetectionMetric, APredictionInACrowdIsIgnored) {
  DetectionMetric metric(1);
  const TrueObject objects[] = {{{0, 0, 40, 40}, 0, 1600}, {{200, 0, 200, 200}, 0, 40000, true}};
  const FoundObject predictions[] = {
      {{210, 10, 20, 20}, 0, 0.9}, {{250, 10, 20, 20}, 0, 0.8}, {{0, 0, 40, 40}, 0, 0.7}};
  metric.add(objects, predictions);
  EXPECT_NEAR(metric.scores().ap, 1, 1e-12);
  EXPECT_EQ(metric.class_scores(0).objects, 1);
}

TEST(DetectionMetric, ASecondPredictionForOneObjectIsAFalsePositive) {
  DetectionMetric metric(1);
  const TrueObject object{{0, 0, 40, 40}, 0, 1600};
  const FoundObject predictions[] = {{{0, 0, 40, 40}, 0, 0.5}, {{0, 0, 40, 20}, 0, 0.9}};
  metric.add({&object, 1}, predictions);
  // At an IoU threshold of 0.5 the first one (exactly 0.5) matches the object; above, it is a false positive that
  // precedes the true one.
  EXPECT_NEAR(metric.scores().ap50, 1, 1e-12);
  EXPECT_NEAR(metric.scores().ap75, 0.5, 1e-12);
}

TEST(DetectionMetric, ComparesMasksByTheirPixels) {
  DetectionMetric metric(1, Similarity::kMask);
  // Ten pixels each, eight of them in common; both have the same box.
  TrueObject object{.box = {0, 0, 10, 1}, .area = 10, .mask = {{0, 0, 8}, {1, 0, 2}}};
  FoundObject prediction{.box = {0, 0, 10, 1}, .score = 0.9, .mask = {{0, 0, 8}, {2, 0, 2}}};
  metric.add({&object, 1}, {&prediction, 1});
  EXPECT_NEAR(metric.scores().ap50, 1, 1e-12);
  EXPECT_NEAR(metric.scores().ap75, 0, 1e-12);  // 8 of 12
  EXPECT_NEAR(metric.scores().ap, 4.0 / 10, 1e-12);
}

TEST(DetectionMetric, AnIgnoredObjectIsTakenOnceACrowdAnyNumberOfTimes) {
  for (const bool crowd : {false, true}) {
    DetectionMetric metric(1);
    const TrueObject objects[] = {{.box = {0, 0, 40, 40}, .area = 1600, .crowd = crowd, .ignored = true},
                                  {.box = {100, 0, 40, 40}, .area = 1600}};
    const FoundObject predictions[] = {{.box = {0, 0, 40, 40}, .score = 0.9},
                                       {.box = {0, 0, 40, 40}, .score = 0.8},
                                       {.box = {100, 0, 40, 40}, .score = 0.7}};
    metric.add(objects, predictions);
    EXPECT_NEAR(metric.scores().ap, crowd ? 1 : 0.5, 1e-12);
  }
}

TEST(DetectionMetric, AverageOfASelectionIsThatOfItsImages) {
  DetectionMetric all(1);
  DetectionMetric twice(1);
  const TrueObject object{{0, 0, 40, 40}, 0, 1600};
  const FoundObject right{{0, 0, 40, 40}, 0, 0.5};
  const FoundObject wrong{{100, 0, 40, 40}, 0, 0.9};
  all.add({&object, 1}, {&right, 1});
  all.add({&object, 1}, {&wrong, 1});
  all.add({}, {&wrong, 1});
  twice.add({&object, 1}, {&right, 1});
  twice.add({&object, 1}, {&right, 1});
  twice.add({}, {&wrong, 1});
  const int times[] = {2, 0, 1};
  EXPECT_NEAR(average_precision(all.ranked(), all.max_predictions(), times), twice.scores().ap, 1e-12);
  const int nothing[] = {0, 0, 5};
  EXPECT_EQ(average_precision(all.ranked(), all.max_predictions(), nothing), -1);
}

TEST(KeypointSimilarity, IsMeasuredFromTheBoxWhereNoJointCounts) {
  TrueObject object{.box = {10, 10, 10, 10}, .area = 100};
  object.keypoints.assign(17, {0, 0, false});
  const std::vector<double> sigmas = keypoint_sigmas(17);
  std::vector<CocoPoint> found(17, {0, 0});  // at a distance of the box's width
  EXPECT_DOUBLE_EQ(keypoint_similarity(found, object, sigmas), 1);
  found[0].x = -100;
  EXPECT_NEAR(keypoint_similarity(found, object, sigmas), 16.0 / 17, 1e-12);
}

TEST(KeypointSimilarity, OtherSkeletonsHaveOneToleranceForAllJoints) {
  EXPECT_EQ(keypoint_sigmas(5), std::vector<double>(5, 0.2));
  const TrueObject object{.box = {0, 0, 10, 10}, .area = 100, .keypoints = std::vector<CocoPoint>(5)};
  const std::vector<CocoPoint> found(5, {4, 0});
  EXPECT_NEAR(keypoint_similarity(found, object, keypoint_sigmas(5)), std::exp(-0.5), 1e-9);
}

/// A case of coco_cases.txt.
struct Case {
  Similarity by = Similarity::kBox;
  int images = 0;
  int classes = 0;
  std::size_t objects = 0;
  std::size_t predictions = 0;
  std::vector<double> expected;
};

Case read_case(std::istream& file) {
  Case one;
  std::string kind;
  file >> kind >> one.images >> one.classes >> one.objects >> one.predictions;
  for (Similarity by : {Similarity::kMask, Similarity::kKeypoints})
    if (kind == to_string(by)) one.by = by;
  one.expected.resize(one.by == Similarity::kKeypoints ? 10 : 12);
  for (double& figure : one.expected) file >> figure;
  return one;
}

/// Reads the fields of an object or a prediction besides its box.
template <typename Object>
void read_rest(std::istream& file, Similarity by, Object& object) {
  if (by == Similarity::kMask) {
    std::string counts;
    file >> counts;
    RunLengths lengths;
    const Mask mask = lengths.decode(counts, 90, 70);
    object.mask.assign(mask.runs.begin(), mask.runs.end());
  }
  if (by == Similarity::kKeypoints) {
    for (int i = 0; i < 17; ++i) {
      double seen = 0;
      CocoPoint& point = object.keypoints.emplace_back();
      file >> point.x >> point.y >> seen;
      point.counts = seen > 0;
    }
  }
}

std::vector<double> figures_of(const DetectionScores& s, Similarity by) {
  if (by == Similarity::kKeypoints)
    return {s.ap, s.ap50, s.ap75, s.ap_medium, s.ap_large, s.ar, s.ar50, s.ar75, s.ar_medium, s.ar_large};
  return {s.ap,  s.ap50, s.ap75, s.ap_small, s.ap_medium, s.ap_large,
          s.ar1, s.ar10, s.ar,   s.ar_small, s.ar_medium, s.ar_large};
}

void check(std::istream& file, const Case& one) {
  std::vector<std::vector<TrueObject>> truth(static_cast<std::size_t>(one.images));
  std::vector<std::vector<FoundObject>> found(truth.size());
  for (std::size_t i = 0; i < one.objects; ++i) {
    std::size_t image = 0;
    TrueObject object;
    file >> image >> object.class_id >> object.crowd >> object.area >> object.box.x >> object.box.y >>
        object.box.width >> object.box.height;
    read_rest(file, one.by, object);
    object.ignored = one.by == Similarity::kKeypoints && std::ranges::none_of(object.keypoints, &CocoPoint::counts);
    truth.at(image - 1).push_back(object);
  }
  for (std::size_t i = 0; i < one.predictions; ++i) {
    std::size_t image = 0;
    FoundObject prediction;
    file >> image >> prediction.class_id >> prediction.score >> prediction.box.x >> prediction.box.y >>
        prediction.box.width >> prediction.box.height;
    read_rest(file, one.by, prediction);
    found.at(image - 1).push_back(prediction);
  }
  DetectionMetric metric(one.classes, one.by, keypoint_sigmas(17));
  for (std::size_t i = 0; i < truth.size(); ++i) metric.add(truth[i], found[i]);
  const std::vector<double> ours = figures_of(metric.scores(), one.by);
  ASSERT_TRUE(file);
  for (std::size_t i = 0; i < ours.size(); ++i) EXPECT_NEAR(ours[i], one.expected[i], 1e-12) << "figure " << i;
  const std::vector<int> once(truth.size(), 1);
  EXPECT_NEAR(average_precision(metric.ranked(), metric.max_predictions(), once), one.expected[0], 1e-12);
}

TEST(DetectionMetric, EqualsPycocotoolsOnMadeUpImages) {
  std::ifstream file(SACCADE_SOURCE "/tests/metrics/coco_cases.txt");
  std::string word;
  std::getline(file, word);
  int cases = 0;
  for (; file >> word; ++cases) {
    SCOPED_TRACE(cases);
    ASSERT_EQ(word, "case");
    check(file, read_case(file));
  }
  EXPECT_EQ(cases, 9);
}

}  // namespace
}  // namespace saccade
