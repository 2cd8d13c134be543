#include "validate/precision_choice.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "support/graph_builder.hpp"
#include "support/tiny_models.hpp"
#include "validate/query_selection.hpp"

namespace saccade {
namespace {

Agreement boxes(std::int64_t matched, std::int64_t whole) {
  Agreement agreement;
  agreement.matched90 = agreement.confirmed90 = {matched, whole};
  return agreement;
}

PrecisionChoice decide_on(double time, const Agreement& agreement) {
  return decide({candidate_of(Precision::kBf16, time, agreement)});
}

TEST(PrecisionChoice, TakesWhatIsFasterAndAgrees) {
  const PrecisionChoice choice = decide_on(0.5, boxes(298, 300));
  EXPECT_EQ(choice.decided.precision, Precision::kBf16);
  EXPECT_EQ(choice.why, "bf16 takes 0.50 of the time of fp32, 99.3 % of 300 boxes matched");
}

TEST(PrecisionChoice, KeepsFp32WherePredictionsDiffer) {
  const PrecisionChoice choice = decide_on(0.5, boxes(290, 300));
  EXPECT_EQ(choice.decided.precision, Precision::kFp32);
  EXPECT_EQ(choice.why, "bf16 takes 0.50 of the time of fp32, but 96.7 % of 300 boxes matched");
}

TEST(PrecisionChoice, KeepsFp32WhereItIsAsFast) {
  EXPECT_EQ(decide_on(0.98, boxes(300, 300)).decided.precision, Precision::kFp32);
  EXPECT_EQ(decide_on(1.7, boxes(300, 300)).decided.precision, Precision::kFp32);
}

TEST(PrecisionChoice, KeepsFp32WithoutEnoughPredictions) {
  const PrecisionChoice choice = decide_on(0.5, boxes(150, 150));
  EXPECT_EQ(choice.decided.precision, Precision::kFp32);
  EXPECT_NE(choice.why.find("only 150 of 200 predictions"), std::string::npos) << choice.why;
  EXPECT_EQ(decide_on(0.5, Agreement()).decided.precision, Precision::kFp32);
}

/// One kind of prediction that differs is enough.
TEST(PrecisionChoice, LooksAtEveryKindOfPrediction) {
  Agreement agreement = boxes(300, 300);
  agreement.same_pixels = {900, 1000};
  EXPECT_EQ(decide_on(0.5, agreement).why,
            "bf16 takes 0.50 of the time of fp32, but 90.0 % of 1000 pixels of one class");
  agreement = boxes(300, 300);
  agreement.confirmed90 = {100, 300};
  EXPECT_EQ(decide_on(0.5, agreement).decided.precision, Precision::kFp32);
}

TEST(PrecisionChoice, SaysHowManyProductsStayInFp32) {
  PrecisionCandidate some = candidate_of(Precision::kBf16, 0.6, boxes(299, 300));
  some.kept = {"head"};
  some.products = 20;
  const PrecisionChoice choice = decide({candidate_of(Precision::kBf16, 0.5, boxes(290, 300)), some});
  EXPECT_EQ(choice.decided.precision, Precision::kBf16);
  EXPECT_EQ(choice.decided.keep_fp32, NodeNames{"head"});
  EXPECT_EQ(choice.why,
            "bf16 with 1 of 20 products in fp32 takes 0.60 of the time of fp32, 99.7 % of 300 boxes matched");
}

TEST(PrecisionChoice, TakesTheFastest) {
  const auto candidate = [](Precision precision, double time, bool agrees) {
    return PrecisionCandidate{.precision = precision, .time = time, .agrees = agrees, .evidence = "evidence"};
  };
  EXPECT_EQ(decide({candidate(Precision::kBf16, 0.6, true), candidate(Precision::kFp16, 0.5, true)}).decided.precision,
            Precision::kFp16);
  EXPECT_EQ(decide({candidate(Precision::kBf16, 0.5, true), candidate(Precision::kFp16, 0.6, true)}).decided.precision,
            Precision::kBf16);
  EXPECT_EQ(decide({candidate(Precision::kBf16, 0.6, true), candidate(Precision::kFp16, 0.5, false)}).decided.precision,
            Precision::kBf16);
  EXPECT_EQ(decide({}).decided.precision, Precision::kFp32);
}

TEST(PrecisionChoice, RunsTheModelInBoth) {
  const test::TempFolder folder;
  const std::string model = test::write_color_classifier(folder);
  const PrecisionChoice choice = choose_precision(
      {.model = model, .options = {.device = Device::cpu(), .threads = 1}, .candidates = {Precision::kBf16}});
  ASSERT_EQ(choice.candidates.size(), 1U);
  EXPECT_GT(choice.candidates[0].time, 0);
  const std::string& evidence = choice.candidates[0].evidence;
  int compared = 0;
  // The trial ends early, after 24 frames or more, when there is no gain.
  if (std::sscanf(evidence.c_str(), "only %d of 200 predictions", &compared) == 1) {
    EXPECT_GE(compared, 24);
    EXPECT_GE(choice.candidates[0].time, 0.97);
  } else {
    EXPECT_EQ(evidence, "100.0 % of 200 top classes equal");
  }
}

TEST(PrecisionChoice, KeepsFp32ForAModelThatIsNotRecognised) {
  const test::TempFolder folder;
  onnx_writer::Model model(13);
  model.input("numbers", {1, 5}).output("others");
  model.node({.op = "Relu", .inputs = {"numbers"}, .outputs = {"others"}, .name = "relu"});
  model.save(folder / "numbers.onnx");
  const PrecisionChoice choice = choose_precision(
      {.model = folder / "numbers.onnx", .options = {.device = Device::cpu()}, .candidates = {Precision::kBf16}});
  EXPECT_EQ(choice.decided.precision, Precision::kFp32);
  EXPECT_NE(choice.why.find("not an image"), std::string::npos) << choice.why;
}

/// y: what a TopK of x selects; z: a MatMul of it. Outputs y, and z if COMPUTES.
Graph selecting_graph(bool computes) {
  test::GraphBuilder b;
  const ValueId x = b.input("x", {1, 100, 8});
  const ValueId scores = b.op("ReduceMax", {x, b.ints({2})}, {{"keepdims", std::int64_t{0}}});
  const auto top = b.multi("TopK", {scores, b.ints({10})}, 2);
  const ValueId indices = b.op("Unsqueeze", {top[1], b.ints({2})});
  const ValueId all = b.op("Expand", {indices, b.ints({1, 10, 8})});
  const ValueId queries = b.op("GatherElements", {x, all}, {{"axis", std::int64_t{1}}});
  if (!computes) return b.build({b.op("Relu", {queries})});
  return b.build({b.op("MatMul", {queries, b.random({8, 8})})});
}

TEST(PrecisionChoice, KnowsModelsThatSelectQueries) {
  EXPECT_TRUE(selects_queries(selecting_graph(true)));
  EXPECT_FALSE(selects_queries(selecting_graph(false))) << "a ranking of boxes at the end";
}

TEST(PrecisionChoice, KeepsFp32ForQueriesWithoutData) {
  const std::string path = std::string(SACCADE_SHARED) + "/models/real/deimv2_atto_coco_320.onnx";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "Skipped: needs ../shared";
  const PrecisionChoice choice =
      choose_precision({.model = path, .options = {.device = Device::cpu()}, .candidates = {Precision::kBf16}});
  EXPECT_EQ(choice.decided.precision, Precision::kFp32);
  EXPECT_NE(choice.why.find("--data"), std::string::npos) << choice.why;
}

TEST(PrecisionChoice, KeepsFp32ForARegionOutsideOfTheScene) {
  const test::TempFolder folder;
  ModelOptions options{.device = Device::cpu()};
  options.roi = Region{5000, 5000, 100, 100};
  const PrecisionChoice choice = choose_precision(
      {.model = test::write_color_classifier(folder), .options = options, .candidates = {Precision::kBf16}});
  EXPECT_EQ(choice.decided.precision, Precision::kFp32);
  EXPECT_NE(choice.why.find("can't be compared"), std::string::npos) << choice.why;
}

}  // namespace
}  // namespace saccade
