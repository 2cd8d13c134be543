#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ops/vision/candidates.hpp"
#include "support/run_op.hpp"
#include "support/specials.hpp"

namespace saccade {
namespace {

using test::elements;
using test::faults_in;
using test::run_saccade_op;

// Three anchors of two classes: the first is class 1, the second nothing, the third class 0.
const Tensor kYolov8 = Tensor::of<float>({1, 6, 3}, {10, 20, 30,        // x
                                                     10, 20, 30,        // y
                                                     4, 4, 8,           // width
                                                     2, 2, 6,           // height
                                                     0.1F, 0.2F, 0.9F,  // class 0
                                                     0.7F, 0.1F, 0.5F});

TEST(DecodeYolov8, TakesTheBestClassOfEveryAnchor) {
  const auto out = run_saccade_op("DecodeYolov8", {kYolov8}, 6, {{"conf", 0.25F}});
  EXPECT_EQ(elements<std::int32_t>(out[4]), (std::vector<std::int32_t>{2}));
  EXPECT_EQ(elements<float>(out[0]), (std::vector<float>{8, 9, 12, 11, 26, 27, 34, 33, 0, 0, 0, 0}));
  EXPECT_EQ(elements<float>(out[1]), (std::vector<float>{0.7F, 0.9F, 0}));
  EXPECT_EQ(elements<std::int32_t>(out[2]), (std::vector<std::int32_t>{1, 0, 0}));
}

TEST(DecodeYolov8, TakesEveryClassOnRequest) {
  const auto out = run_saccade_op("DecodeYolov8", {kYolov8}, 6, {{"conf", 0.25F}, {"multi_label", std::int64_t{1}}});
  EXPECT_EQ(elements<std::int32_t>(out[4])[0], 3);
  EXPECT_EQ(elements<float>(out[1]), (std::vector<float>{0.9F, 0.7F, 0.5F, 0, 0, 0}));
  EXPECT_EQ(elements<std::int32_t>(out[2]), (std::vector<std::int32_t>{0, 1, 1, 0, 0, 0}));
}

TEST(DecodeYolov8, KeepsTheSelectedClasses) {
  const Tensor only_first = Tensor::of<bool>({2}, {true, false});
  const auto out = run_saccade_op("DecodeYolov8", {kYolov8, only_first}, 6, {{"conf", 0.25F}});
  EXPECT_EQ(elements<std::int32_t>(out[4])[0], 1);
  EXPECT_EQ(elements<float>(out[1])[0], 0.9F);
}

TEST(DecodeYolov8, DropsNonFiniteBoxesAndReportsThem) {
  const Tensor bad =
      Tensor::of<float>({1, 5, 4}, {1,    kNan, 1,    1,       1, 1, 1, 1, 2, 2, INFINITY, 2, 2, 2, 2, 2,  //
                                    kNan, 0.9F, 0.9F, INFINITY});
  for (std::int64_t multi_label : {0, 1}) {
    const auto out = run_saccade_op("DecodeYolov8", {bad}, 6, {{"multi_label", multi_label}});
    EXPECT_EQ(elements<std::int32_t>(out[4])[0], 0);
    Faults faults;
    for (Fault fault : {Fault::kNanConfidence, Fault::kConfidenceRange, Fault::kNanBox, Fault::kInfiniteBox})
      faults.add(fault);
    EXPECT_EQ(faults_in(out[5]), to_output(faults));
  }
}

TEST(DecodeYolov8, IgnoresFaultsOfBoxesThatAreNoCandidates) {
  const Tensor weak = Tensor::of<float>({1, 5, 2}, {kNan, 1, 1, 1, -3, INFINITY, 2, 2, 0.2F, 0.1F});
  for (std::int64_t multi_label : {0, 1})
    EXPECT_EQ(faults_in(run_saccade_op("DecodeYolov8", {weak}, 6, {{"multi_label", multi_label}})[5]), 0);
}

TEST(DecodeYolov8, KeepsTheBestWhenThereAreTooManyLabels) {
  // 400 anchors of 100 classes make 40000 candidates; the weakest 10000 are dropped. Scores increase along the classes.
  Tensor many(DType::kFloat32, {1, 104, 400});
  const auto data = many.data<float>();
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = i < 1600 ? 1.0F : static_cast<float>(i - 1600) / 40000.0F;
  const auto out = run_saccade_op("DecodeYolov8", {many}, 6, {{"conf", 0.0F}, {"multi_label", std::int64_t{1}}});
  EXPECT_EQ(elements<std::int32_t>(out[4])[0], 30000);
  EXPECT_EQ(elements<std::int32_t>(out[2])[0], 25);
  EXPECT_FLOAT_EQ(elements<float>(out[1])[0], 0.25F);
}

TEST(DecodeYolov8, LeavesRowsPastTheClassesToOthers) {
  Tensor wide(DType::kFloat32, {1, 7, 3});
  std::ranges::fill(wide.data<float>(), 99.0F);
  std::ranges::copy(kYolov8.data<float>(), wide.data<float>().begin());
  for (std::int64_t multi_label : {0, 1}) {
    const auto out = run_saccade_op("DecodeYolov8", {wide}, 6,
                                    {{"classes", std::int64_t{2}}, {"multi_label", multi_label}, {"conf", 0.6F}});
    EXPECT_EQ(elements<std::int32_t>(out[4])[0], 2);
    const auto anchors = elements<std::int32_t>(out[3]);
    EXPECT_EQ(anchors[0] + anchors[1], 2);
    EXPECT_EQ(std::abs(anchors[0] - anchors[1]), 2);
  }
  for (std::int64_t classes : {-1, 4})
    EXPECT_THROW(run_saccade_op("DecodeYolov8", {wide}, 6, {{"classes", classes}}), Error);
}

TEST(DecodeBoxes, AppliesAThresholdPerClass) {
  const Tensor boxes = Tensor::of<float>({1, 3, 4}, {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5});
  const Tensor scores = Tensor::of<float>({1, 3, 2}, {0.3F, 0.4F, 0.6F, 0.7F, kNan, 0.55F});
  const std::vector<float> threshold = {0.5F, 0.65F};
  auto out = run_saccade_op("DecodeBoxes", {boxes, Tensor::of<bool>({2}, {true, true}), scores}, 6,
                            {{"threshold", threshold}, {"conf", 0.5F}});
  EXPECT_EQ(elements<std::int32_t>(out[4])[0], 1);  // the last anchor's only score is below its class's threshold
  EXPECT_EQ(elements<std::int32_t>(out[3])[0], 1);
  EXPECT_EQ(elements<float>(out[0])[0], 2);
  out = run_saccade_op("DecodeBoxes", {boxes, Tensor::of<bool>({2}, {true, true}), scores}, 6,
                       {{"threshold", threshold}, {"conf", 0.5F}, {"multi_label", std::int64_t{1}}});
  EXPECT_EQ(elements<std::int32_t>(out[4])[0], 2);
  EXPECT_EQ(elements<float>(out[1])[0], 0.6F);
  EXPECT_EQ(elements<float>(out[1])[1], 0.7F);
  EXPECT_THROW(run_saccade_op("DecodeBoxes", {boxes, Tensor::of<bool>({2}, {true, true}), scores}, 6,
                              {{"threshold", std::vector<float>{0.5F}}}),
               Error);
}

TEST(DecodeYolov5, MultipliesObjectnessAndClass) {
  const Tensor rows =
      Tensor::of<float>({1, 3, 7}, {10, 10, 4, 2, 0.5F,  0.2F, 0.8F,    // 0.4 for class 1
                                    20, 20, 4, 2, 0.5F,  0.4F, 0.1F,    // 0.2: too little
                                    30, 30, 4, 2, 0.25F, 1.0F, 1.0F});  // excluded by the objectness alone
  const auto out = run_saccade_op("DecodeYolov5", {rows}, 6, {{"conf", 0.25F}});
  EXPECT_EQ(elements<std::int32_t>(out[4])[0], 1);
  EXPECT_FLOAT_EQ(elements<float>(out[1])[0], 0.4F);
  EXPECT_EQ(elements<std::int32_t>(out[2])[0], 1);
  EXPECT_EQ(elements<float>(out[0]), (std::vector<float>{8, 9, 12, 11, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(DecodeYolox, PlacesBoxesOnTheGrid) {
  // 32x16 pixels: 2x1 cells of stride 16 and 1 of stride 32 (partly outside): the second and the third are hits.
  const test::AttributeList attributes = {
      {"strides", std::vector<std::int64_t>{16, 32}}, {"width", std::int64_t{32}}, {"height", std::int64_t{32}}};
  Tensor rows(DType::kFloat32, {1, 5, 6});
  std::ranges::fill(rows.data<float>(), 0.0F);
  const auto set = [&](std::size_t anchor, std::array<float, 6> values) {
    std::ranges::copy(values, rows.data<float>().begin() + static_cast<std::ptrdiff_t>(6 * anchor));
  };
  set(3, {0.5F, 0.25F, 0, std::log(2.0F), 1, 0.5F});  // cell 1,1 of stride 16: centre 24, 20, size 16 x 32
  set(4, {0.5F, 0.5F, 0, 0, 1, 1});                   // the one cell of stride 32
  const auto out = run_saccade_op("DecodeYolox", {rows}, 6, attributes);
  EXPECT_EQ(elements<std::int32_t>(out[4])[0], 2);
  const auto boxes = elements<float>(out[0]);
  const std::vector<float> expected = {16, 4, 32, 36, 0, 0, 32, 32};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(boxes[i], expected[i], 1e-5) << i;
  EXPECT_EQ(elements<float>(out[1])[0], 0.5F);
}

TEST(DecodeYolox, RejectsNoStrides) {
  const Tensor none(DType::kFloat32, {1, 0, 7});
  EXPECT_THROW(run_saccade_op("DecodeYolox", {none}, 6, {{"width", std::int64_t{32}}, {"height", std::int64_t{32}}}),
               Error);
}

TEST(DecodeYolox, RejectsStridesThatDoNotFit) {
  const Tensor rows(DType::kFloat32, {1, 6, 6});
  for (const auto& strides : {std::vector<std::int64_t>{16}, {0}, {-8}, {}})
    EXPECT_THROW(run_saccade_op("DecodeYolox", {rows}, 6,
                                {{"strides", strides}, {"width", std::int64_t{32}}, {"height", std::int64_t{32}}}),
                 Error);
}

TEST(DecodeEndToEnd, CopiesBoxesAboveTheThreshold) {
  const Tensor rows = Tensor::of<float>({1, 4, 6}, {1, 2, 3, 4, 0.9F,  7,       //
                                                    1, 2, 3, 4, 0.25F, 7,       // not above 0.25
                                                    1, 2, 3, 4, 0.9F,  -1,      // no class
                                                    5, 6, 7, 8, 0.5F,  kNan});  // no class
  const auto out = run_saccade_op("DecodeEndToEnd", {rows}, 6, {});
  EXPECT_EQ(elements<std::int32_t>(out[4])[0], 1);
  EXPECT_EQ(elements<float>(out[0])[3], 4);
  EXPECT_EQ(elements<std::int32_t>(out[2])[0], 7);
}

TEST(DecodeEndToEnd, HasCapacityForEveryRow) {
  const Tensor many(DType::kFloat32, {1, kMaxCandidates + 1, 6});
  EXPECT_EQ(run_saccade_op("DecodeEndToEnd", {many}, 6, {})[1].elements(), kMaxCandidates + 1);
  EXPECT_THROW(run_saccade_op("DecodeEndToEnd", {many}, 6, {{"multi_label", std::int64_t{1}}}), Error);
}

TEST(Decoders, RefuseOmittedOutputs) {
  const Tensor rows(DType::kFloat32, {1, 7, 7});
  for (const char* name : {"DecodeYolov8", "DecodeYolov5", "DecodeEndToEnd"})
    test::expect_all_outputs_required(name, {rows}, 6, {});
  test::expect_all_outputs_required("DecodeBoxes", {Tensor(DType::kFloat32, {1, 7, 4}), Tensor(), rows}, 6, {});
}

TEST(Decoders, RefuseClassesThatAreNone) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const Tensor rows(DType::kFloat32, {1, 6, 6});
  for (const char* name : {"DecodeYolov8", "DecodeYolov5", "DecodeEndToEnd"}) {
    for (std::int64_t wrong : {kMost, -kMost - 1, std::int64_t{-2}, kMaxClasses}) {
      const std::vector<std::int64_t> remap = name == std::string("DecodeYolov5") ? std::vector{wrong}  // of 1 class
                                                                                  : std::vector{wrong, std::int64_t{0}};
      EXPECT_THROW(run_saccade_op(name, {rows}, 6, {{"remap", remap}, {"threshold", std::vector<float>{0.5F}}}), Error)
          << name << ' ' << wrong;
    }
  }
  const Tensor none(DType::kFloat32, {1, 4 + kMaxClasses + 1, 0});
  EXPECT_THROW(run_saccade_op("DecodeYolov8", {none}, 6, {}), Error);
}

TEST(Decoders, RejectOtherShapesAndTypes) {
  const std::vector<std::pair<const char*, Shape>> cases = {{"DecodeYolov8", {1, 4, 10}},
                                                            {"DecodeYolov8", {2, 6, 10}},
                                                            {"DecodeYolov8", {6, 10}},
                                                            {"DecodeYolov5", {1, 10, 5}},
                                                            {"DecodeEndToEnd", {1, 10, 5}}};
  for (const auto& [op, shape] : cases)
    EXPECT_THROW(run_saccade_op(op, {Tensor(DType::kFloat32, shape)}, 6, {}), Error) << op << shape.to_string();
  EXPECT_THROW(run_saccade_op("DecodeYolov8", {Tensor(DType::kInt32, {1, 6, 10})}, 6, {}), Error);
}

TEST(Decoders, TakeAnEmptyList) {
  const auto out = run_saccade_op("DecodeYolov8", {Tensor(DType::kFloat32, {1, 6, 0})}, 6, {});
  EXPECT_EQ(elements<std::int32_t>(out[4])[0], 0);
}

}  // namespace
}  // namespace saccade
