#include "vision/detection_metric.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace saccade {
namespace {

TEST(Overlap, IsTheCommonShareOfTheUnion) {
  const CocoBox a{0, 0, 10, 10};
  EXPECT_DOUBLE_EQ(overlap(a, {5, 0, 10, 10}, false), 50.0 / 150);
  EXPECT_DOUBLE_EQ(overlap(a, {0, 0, 100, 100}, true), 1);
  EXPECT_EQ(overlap(a, {10, 0, 5, 5}, false), 0);
}

TEST(DetectionMetric, IsOneForPerfectAnswersAndMinusOneWithNothingToFind) {
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
  EXPECT_NEAR(metric.scores().ar100, 0.5, 1e-12);
}

TEST(DetectionMetric, AnAnswerInACrowdCountsNeitherWay) {
  DetectionMetric metric(1);
  const TrueObject objects[] = {{{0, 0, 40, 40}, 0, 1600}, {{200, 0, 200, 200}, 0, 40000, true}};
  const FoundObject answers[] = {{{210, 10, 20, 20}, 0, 0.9}, {{250, 10, 20, 20}, 0, 0.8}, {{0, 0, 40, 40}, 0, 0.7}};
  metric.add(objects, answers);
  EXPECT_NEAR(metric.scores().ap, 1, 1e-12);
  EXPECT_EQ(metric.class_scores(0).objects, 1);
}

TEST(DetectionMetric, ASecondAnswerForOneObjectIsWrong) {
  DetectionMetric metric(1);
  const TrueObject object{{0, 0, 40, 40}, 0, 1600};
  const FoundObject answers[] = {{{0, 0, 40, 40}, 0, 0.5}, {{0, 0, 40, 20}, 0, 0.9}};
  metric.add({&object, 1}, answers);
  // At an overlap of 0.5 the first (0.5 to the bit) takes the object; above, it is a false answer before the right one.
  EXPECT_NEAR(metric.scores().ap50, 1, 1e-12);
  EXPECT_NEAR(metric.scores().ap75, 0.5, 1e-12);
}

struct Case {
  int pictures;
  int classes;
  std::size_t objects;
  std::size_t answers;
  std::array<double, 12> expected;
};

void check(std::istream& file, const Case& one) {
  std::vector<std::vector<TrueObject>> truth(static_cast<std::size_t>(one.pictures));
  std::vector<std::vector<FoundObject>> found(truth.size());
  for (std::size_t i = 0; i < one.objects; ++i) {
    std::size_t picture = 0;
    TrueObject object;
    file >> picture >> object.class_id >> object.crowd >> object.area >> object.box.x >> object.box.y >>
        object.box.width >> object.box.height;
    truth.at(picture - 1).push_back(object);
  }
  for (std::size_t i = 0; i < one.answers; ++i) {
    std::size_t picture = 0;
    FoundObject answer;
    file >> picture >> answer.class_id >> answer.score >> answer.box.x >> answer.box.y >> answer.box.width >>
        answer.box.height;
    found.at(picture - 1).push_back(answer);
  }
  DetectionMetric metric(one.classes);
  for (std::size_t i = 0; i < truth.size(); ++i) metric.add(truth[i], found[i]);
  const DetectionScores s = metric.scores();
  const std::array<double, 12> ours = {s.ap,  s.ap50, s.ap75,  s.ap_small, s.ap_medium, s.ap_large,
                                       s.ar1, s.ar10, s.ar100, s.ar_small, s.ar_medium, s.ar_large};
  for (std::size_t i = 0; i < ours.size(); ++i) EXPECT_NEAR(ours[i], one.expected[i], 1e-12) << "figure " << i;
}

TEST(DetectionMetric, EqualsPycocotoolsOnMadeUpPictures) {
  std::ifstream file(SACCADE_SOURCE "/tests/vision/coco_cases.txt");
  std::string word;
  std::getline(file, word);
  int cases = 0;
  for (; file >> word; ++cases) {
    SCOPED_TRACE(cases);
    ASSERT_EQ(word, "case");
    Case one{};
    file >> one.pictures >> one.classes >> one.objects >> one.answers;
    for (double& figure : one.expected) file >> figure;
    check(file, one);
  }
  EXPECT_EQ(cases, 5);
}

}  // namespace
}  // namespace saccade
