#include <gtest/gtest.h>

#include <cmath>

#include "ops/vision/faults.hpp"
#include "support/run_op.hpp"

namespace saccade {
namespace {

using test::AttributeList;
using test::elements;
using test::faults_in;

struct Candidate {
  std::array<float, 4> box;
  float score;
  std::int32_t class_id;
};

constexpr std::array<float, 6> kPlain = {1, 1, 0, 0, 100, 100};

std::vector<Tensor> select_boxes(const std::vector<Candidate>& candidates, const AttributeList& attributes = {},
                                 std::array<float, 6> geometry = kPlain) {
  const auto size = static_cast<std::int64_t>(candidates.size());
  Tensor boxes(DType::kFloat32, {size, 4});
  Tensor scores(DType::kFloat32, {size});
  Tensor classes(DType::kInt32, {size});
  Tensor anchors(DType::kInt32, {size});
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    std::ranges::copy(candidates[i].box, boxes.data<float>().begin() + static_cast<std::ptrdiff_t>(4 * i));
    scores.data<float>()[i] = candidates[i].score;
    classes.data<std::int32_t>()[i] = candidates[i].class_id;
    anchors.data<std::int32_t>()[i] = static_cast<std::int32_t>(100 + i);
  }
  const Tensor count = Tensor::of<std::int32_t>({1}, {static_cast<std::int32_t>(size)});
  AttributeList all = {{"iou", 0.5F}, {"max_det", std::int64_t{3}}};
  all.insert(all.end(), attributes.begin(), attributes.end());
  return test::run_saccade_op(
      "SelectBoxes", {boxes, scores, classes, anchors, count, Tensor::of<float>({6}, std::span<const float>(geometry))},
      5, all);
}

std::vector<float> scores_of(const std::vector<Tensor>& out) {
  std::vector<float> scores;
  const auto rows = elements<float>(out[0]);
  for (std::size_t i = 0; i < static_cast<std::size_t>(elements<std::int32_t>(out[1])[0]); ++i)
    scores.push_back(rows[6 * i + 4]);
  return scores;
}

// 10x10 boxes; shifted by 2 they share 80 of 120 pixels (0.67), by 5 50 of 150 (0.33).
constexpr Candidate box_at(float x, float score, int class_id = 0) { return {{x, 0, x + 10, 10}, score, class_id}; }

TEST(SelectBoxes, DropsTheWeakerOfTwoThatOverlap) {
  const auto out = select_boxes({box_at(0, 0.5F), box_at(2, 0.9F), box_at(7, 0.4F)});
  EXPECT_EQ(scores_of(out), (std::vector<float>{0.9F, 0.4F}));
  EXPECT_EQ(elements<float>(out[0]),
            (std::vector<float>{2, 0, 12, 10, 0.9F, 0, 7, 0, 17, 10, 0.4F, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(SelectBoxes, KeepsWhatADroppedBoxOverlaps) {
  // The first box suppresses the middle one, so that the last, which only overlaps the middle one, is kept.
  const auto out = select_boxes({box_at(0, 0.9F), box_at(3, 0.8F), box_at(6, 0.7F)});
  EXPECT_EQ(scores_of(out), (std::vector<float>{0.9F, 0.7F}));
}

TEST(SelectBoxes, TreatsClassesApartUnlessAgnostic) {
  const std::vector<Candidate> two = {box_at(0, 0.9F, 1), box_at(0, 0.8F, 2)};
  EXPECT_EQ(scores_of(select_boxes(two)).size(), 2U);
  EXPECT_EQ(scores_of(select_boxes(two, {{"agnostic", std::int64_t{1}}})), (std::vector<float>{0.9F}));
}

TEST(SelectBoxes, StopsAtItsLimitWithTheBest) {
  const auto out = select_boxes({box_at(0, 0.1F), box_at(20, 0.2F), box_at(40, 0.3F), box_at(60, 0.4F)});
  EXPECT_EQ(scores_of(out), (std::vector<float>{0.4F, 0.3F, 0.2F}));
}

TEST(SelectBoxes, BreaksTiesByTheCandidatesOrder) {
  const auto rows = elements<float>(select_boxes({box_at(40, 0.5F), box_at(0, 0.5F), box_at(20, 0.5F)})[0]);
  EXPECT_EQ(rows[0], 40);
  EXPECT_EQ(rows[6], 0);
  EXPECT_EQ(rows[12], 20);
}

TEST(SelectBoxes, MapsToTheFrameAndClips) {
  // A frame of 40x20 at half size in the tensor, 5 rows down.
  const auto rows = elements<float>(select_boxes({{{-2, 6, 10, 18}, 0.9F, 3}}, {}, {0.5F, 0.5F, 0, 5, 40, 20})[0]);
  EXPECT_EQ((std::vector<float>(rows.begin(), rows.begin() + 6)), (std::vector<float>{0, 2, 20, 20, 0.9F, 3}));
}

TEST(SelectBoxes, SkipsScoresThatAreNotFinite) {
  EXPECT_EQ(scores_of(select_boxes({box_at(0, NAN), box_at(20, INFINITY), box_at(40, 0.5F)})),
            (std::vector<float>{0.5F}));
}

TEST(SelectBoxes, KeepsDuplicatesWhereNoOverlapIsTooMuch) {
  EXPECT_EQ(scores_of(select_boxes({box_at(0, 0.9F), box_at(0, 0.8F)}, {{"iou", 1.0F}})).size(), 2U);
}

TEST(SelectBoxes, TakesNoCandidates) {
  const auto out = select_boxes({});
  EXPECT_EQ(elements<std::int32_t>(out[1])[0], 0);
  EXPECT_EQ(elements<float>(out[0]), std::vector<float>(18, 0.0F));
}

TEST(SelectBoxes, RejectsInvalidAttributes) {
  EXPECT_THROW(select_boxes({box_at(0, 0.5F)}, {{"max_det", std::int64_t{0}}}), Error);
  EXPECT_THROW(select_boxes({box_at(0, 0.5F)}, {{"max_det", std::int64_t{1} << 40}}), Error);
}

TEST(SelectBoxes, RefusesOmittedOutputs) {
  const Tensor floats(DType::kFloat32, {2});
  const Tensor numbers(DType::kInt32, {2});
  test::expect_all_outputs_required("SelectBoxes",
                                    {Tensor(DType::kFloat32, {2, 4}), floats, numbers, numbers,
                                     Tensor(DType::kInt32, {1}), Tensor(DType::kFloat32, {6})},
                                    5, {});
}

TEST(TopClasses, SortsByProbability) {
  const Tensor scores = Tensor::of<float>({1, 4, 1, 1}, {0.1F, 0.6F, 0.1F, 0.2F});
  const auto out = test::run_saccade_op("TopClasses", {scores}, 2, {{"k", std::int64_t{3}}});
  EXPECT_EQ(out[0].shape(), (Shape{3, 2}));
  EXPECT_EQ(elements<float>(out[0]), (std::vector<float>{0.6F, 1, 0.2F, 3, 0.1F, 0}));
}

TEST(TopClasses, AppliesSoftmax) {
  const float ln3 = std::log(3.0F);
  const Tensor logits = Tensor::of<float>({1, 2}, {1000, 1000 + ln3});
  const auto rows = elements<float>(
      test::run_saccade_op("TopClasses", {logits}, 2, {{"k", std::int64_t{5}}, {"softmax", std::int64_t{1}}})[0]);
  EXPECT_NEAR(rows[0], 0.75, 1e-4);
  EXPECT_EQ(rows[1], 1);
  EXPECT_NEAR(rows[2], 0.25, 1e-4);
  EXPECT_EQ(rows.size(), 4U);
}

TEST(TopClasses, AppliesTheThresholdToProbabilities) {
  const Tensor logits = Tensor::of<float>({1, 3}, {5, 5, 0});  // 0.498 twice, 0.003
  const auto rows = elements<float>(
      test::run_saccade_op("TopClasses", {logits}, 2, {{"softmax", std::int64_t{1}}, {"conf", 0.4F}})[0]);
  EXPECT_EQ(rows[1], 0);
  EXPECT_EQ(rows[3], 1);
  EXPECT_EQ(rows[5], -1);
}

TEST(TopClasses, DropsInfiniteScoresAndReportsThem) {
  const Tensor scores = Tensor::of<float>({3}, {-INFINITY, 0.5F, INFINITY});
  const auto out = test::run_saccade_op("TopClasses", {scores}, 2, {});
  EXPECT_EQ(elements<float>(out[0]), (std::vector<float>{0.5F, 1, 0, -1, 0, -1}));
  EXPECT_EQ(faults_in(out[1]), to_output(confidence_faults(INFINITY)));
}

TEST(TopClasses, KnowsNoClassBesideANan) {
  for (std::int64_t softmax : {0, 1}) {
    const Tensor scores = Tensor::of<float>({3}, {0.1F, NAN, 0.5F});
    const auto out = test::run_saccade_op("TopClasses", {scores}, 2, {{"softmax", softmax}});
    EXPECT_EQ(elements<float>(out[0]), (std::vector<float>{0, -1, 0, -1, 0, -1})) << softmax;
    EXPECT_EQ(faults_in(out[1]), to_output(confidence_faults(NAN))) << softmax;
  }
}

TEST(TopClasses, ReportsProbabilitiesBeyondOneAndLogitsWithoutASoftmax) {
  const auto faults_of_scores = [](std::initializer_list<float> scores, std::int64_t softmax) {
    const Tensor tensor = Tensor::of<float>({2}, scores);
    return faults_in(test::run_saccade_op("TopClasses", {tensor}, 2, {{"softmax", softmax}})[1]);
  };
  const std::int32_t beyond = to_output(confidence_faults(7));
  EXPECT_EQ(faults_of_scores({1.0005F, -0.0005F}, 0), 0) << "rounding";
  EXPECT_EQ(faults_of_scores({1.01F, 0}, 0), beyond);
  EXPECT_EQ(faults_of_scores({0.5F, -0.01F}, 0), beyond);
  EXPECT_EQ(faults_of_scores({50, -INFINITY}, 1), 0) << "a class that is masked out";
  EXPECT_EQ(faults_of_scores({50, INFINITY}, 1), to_output(confidence_faults(NAN))) << "its softmax is NaN";
  EXPECT_EQ(faults_of_scores({-INFINITY, -INFINITY}, 1), to_output(confidence_faults(NAN))) << "and so is this one";
}

TEST(TopClasses, RejectsNothing) {
  EXPECT_THROW(test::run_saccade_op("TopClasses", {Tensor(DType::kFloat32, {1, 0})}, 2, {}), Error);
  EXPECT_THROW(test::run_saccade_op("TopClasses", {Tensor(DType::kFloat32, {1, 2})}, 2, {{"k", std::int64_t{0}}}),
               Error);
}

}  // namespace
}  // namespace saccade
