#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ops/vision/faults.hpp"
#include "ops/vision/portable_math.hpp"
#include "support/run_op.hpp"
#include "support/specials.hpp"

namespace saccade {
namespace {

using test::AttributeList;
using test::elements;

struct Query {
  std::array<float, 4> box;
  std::array<float, 3> logits;
};

/// On a frame of 200x100 pixels, stretched to 20x20.
std::vector<Tensor> select_queries(const std::vector<Query>& queries, const AttributeList& attributes = {},
                                   const std::array<float, 6>& geometry = {0.1F, 0.2F, 0, 0, 200, 100}) {
  const auto size = static_cast<std::int64_t>(queries.size());
  Tensor boxes(DType::kFloat32, {1, size, 4});
  Tensor logits(DType::kFloat32, {1, size, 3});
  for (std::size_t i = 0; i < queries.size(); ++i) {
    std::ranges::copy(queries[i].box, boxes.data<float>().begin() + static_cast<std::ptrdiff_t>(4 * i));
    std::ranges::copy(queries[i].logits, logits.data<float>().begin() + static_cast<std::ptrdiff_t>(3 * i));
  }
  AttributeList all = {
      {"conf", 0.5F}, {"stretch", std::int64_t{1}}, {"width", std::int64_t{20}}, {"height", std::int64_t{20}}};
  all.insert(all.end(), attributes.begin(), attributes.end());
  const Tensor filter = Tensor::of<bool>({3}, {true, true, true});
  return test::run_saccade_op(
      "SelectQueries", {boxes, filter, logits, Tensor::of<float>({6}, std::span<const float>(geometry))}, 4, all);
}

constexpr std::array<float, 4> kMiddle = {0.5F, 0.5F, 0.25F, 0.5F};

TEST(SelectQueries, KeepsTheQueriesOrder) {
  const auto out = select_queries({{kMiddle, {1, 0, -1}}, {kMiddle, {-1, -1, -1}}, {kMiddle, {0, 3, 1}}});
  EXPECT_EQ(elements<std::int32_t>(out[1])[0], 2);
  EXPECT_EQ(elements<std::int32_t>(out[2]), (std::vector<std::int32_t>{0, 2, 0}));
  const auto rows = elements<float>(out[0]);
  EXPECT_EQ((std::vector<float>(rows.begin(), rows.begin() + 4)), (std::vector<float>{75, 25, 125, 75}));
  EXPECT_EQ(rows[5], 0);
  EXPECT_EQ(rows[11], 1);
  EXPECT_EQ(rows[4], portable_sigmoid(1));
}

TEST(SelectQueries, RoundsHalfToEvenAndClips) {
  // In fp32 0.5125 * 200 is exactly 102.5 and 0.5175 * 200 exactly 103.5; outside of the frame: its edge.
  const auto rows = elements<float>(select_queries({{{0.515F, 0.9F, 0.005F, 0.5F}, {2, 0, 0}}})[0]);
  EXPECT_EQ((std::vector<float>(rows.begin(), rows.begin() + 4)), (std::vector<float>{102, 65, 104, 100}));
}

TEST(SelectQueries, TakesTheFirstOfEqualClassesAndNothingAtTheThreshold) {
  auto out = select_queries({{kMiddle, {40, 50, 60}}, {kMiddle, {0, 0, 0}}});  // all 1; all exactly 0.5
  EXPECT_EQ(elements<std::int32_t>(out[1])[0], 1);
  EXPECT_EQ(elements<float>(out[0])[5], 0);
}

TEST(SelectQueries, RemapsClassesAndAppliesAThresholdPerClass) {
  const AttributeList attributes = {{"remap", std::vector<std::int64_t>{-1, 1, 0}},
                                    {"threshold", std::vector<float>{0.9F, 0.6F}}};
  const auto out = select_queries(
      {{kMiddle, {5, 0, 0}}, {kMiddle, {0, 1, 0}}, {kMiddle, {0, 0, 1}}, {kMiddle, {0, 0, 3}}}, attributes);
  EXPECT_EQ(elements<std::int32_t>(out[1])[0],
            2);  // class 0 of the model is dropped; 0.73 is below the threshold of the new 0
  EXPECT_EQ(elements<std::int32_t>(out[2])[0], 1);
  EXPECT_EQ(elements<std::int32_t>(out[2])[1], 3);
}

TEST(SelectQueries, KeepsTheBestAtCapacity) {
  const auto out =
      select_queries({{kMiddle, {2, 0, 0}}, {kMiddle, {1, 0, 0}}, {kMiddle, {1, 0, 0}}, {kMiddle, {3, 0, 0}}},
                     {{"max_det", std::int64_t{3}}});
  EXPECT_EQ(elements<std::int32_t>(out[1])[0], 3);
  EXPECT_EQ(elements<std::int32_t>(out[2]), (std::vector<std::int32_t>{0, 1, 3}));
}

TEST(SelectQueries, DropsNanAndReportsIt) {
  const auto out = select_queries({{kMiddle, {kNan, kNan, kNan}},
                                   {{kNan, 0, 1, 1}, {9, 0, 0}},
                                   {{0.5F, 0.5F, INFINITY, 1}, {9, 0, 0}},
                                   {kMiddle, {kNan, 2, 0}}});
  EXPECT_EQ(elements<std::int32_t>(out[1])[0], 1);
  EXPECT_EQ(elements<std::int32_t>(out[2])[0], 3);
  Faults faults;
  for (Fault fault : {Fault::kNanConfidence, Fault::kNanBox, Fault::kInfiniteBox}) faults.add(fault);
  EXPECT_EQ(test::faults_in(out[3]), to_output(faults));
}

TEST(SelectQueries, GoesThroughTheGeometryOfALetterbox) {
  // 20x20 pixels of the model show 100x50 of the frame at 0.2, five rows down.
  const auto rows = elements<float>(select_queries({{{0.5F, 0.5F, 0.5F, 0.25F}, {9, 0, 0}}},
                                                   {{"stretch", std::int64_t{0}}}, {0.2F, 0.2F, 0, 5, 100, 50})[0]);
  EXPECT_EQ((std::vector<float>(rows.begin(), rows.begin() + 4)), (std::vector<float>{25, 12, 75, 38}));
}

TEST(SelectQueries, RefusesWhatDoesNotBelongTogether) {
  EXPECT_THROW(select_queries({{kMiddle, {0, 0, 0}}}, {{"remap", std::vector<std::int64_t>{0}}}), Error);
  EXPECT_THROW(select_queries({{kMiddle, {0, 0, 0}}}, {{"threshold", std::vector<float>{0.5F}}}), Error);
  EXPECT_THROW(select_queries({{kMiddle, {0, 0, 0}}}, {{"width", std::int64_t{0}}}), Error);
}

TEST(SelectQueries, RefusesClassesThatAreNone) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  for (std::int64_t wrong : {kMost, -kMost - 1, std::int64_t{-2}, std::int64_t{1} << 24})
    EXPECT_THROW(select_queries({{kMiddle, {9, 0, 0}}}, {{"remap", std::vector<std::int64_t>{wrong, 0, 0}},
                                                         {"threshold", std::vector<float>{0.5F}}}),
                 Error)
        << wrong;
}

TEST(SelectQueries, RefusesAnInvalidFilter) {
  try {
    test::run_saccade_op("SelectQueries",
                         {Tensor(DType::kFloat32, {1, 2, 4}), Tensor(DType::kFloat32, {3}),
                          Tensor(DType::kFloat32, {1, 2, 3}), Tensor(DType::kFloat32, {6})},
                         4, {{"width", std::int64_t{20}}, {"height", std::int64_t{20}}});
    ADD_FAILURE() << "was expected to fail";
  } catch (const Error& error) {
    EXPECT_NE(std::string_view(error.what()).find("the requested classes are float32 3"), std::string_view::npos)
        << error.what();
  }
}

TEST(SelectQueries, RefusesOmittedOutputs) {
  const AttributeList attributes = {{"width", std::int64_t{20}}, {"height", std::int64_t{20}}};
  const std::vector<Tensor> inputs = {Tensor(DType::kFloat32, {1, 2, 4}), Tensor(), Tensor(DType::kFloat32, {1, 2, 3}),
                                      Tensor(DType::kFloat32, {6})};
  test::expect_all_outputs_required("SelectQueries", inputs, 4, attributes);
}

TEST(PortableMath, IsCloseToTheLibrarys) {
  for (float x = -87; x < 88.6F; x += 0.0137F)
    EXPECT_NEAR(portable_exp(x) / std::exp(static_cast<double>(x)), 1, 3e-7) << x;
  EXPECT_EQ(portable_exp(0), 1);
  EXPECT_EQ(portable_exp(-1000), 0);
  EXPECT_EQ(portable_exp(1000), INFINITY);
  EXPECT_TRUE(std::isnan(portable_exp(kNan)));
  EXPECT_EQ(portable_sigmoid(-INFINITY), 0);
  EXPECT_EQ(portable_sigmoid(INFINITY), 1);
}

}  // namespace
}  // namespace saccade
