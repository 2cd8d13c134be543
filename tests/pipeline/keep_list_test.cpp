#include <gtest/gtest.h>

#include "pipeline/model/open_model.hpp"
#include "pipeline/model/write_plan.hpp"
#include "support/graph_builder.hpp"
#include "support/temp_folder.hpp"
#include "support/tiny_models.hpp"
#include "vision/cards/recognise.hpp"

namespace saccade {
namespace {

TEST(KeepList, AreThePlansForWhatItWasMadeFor) {
  test::GraphBuilder b;
  const Graph graph = b.build({b.op("Relu", {b.input("x", {1, 3, 4, 4})})});
  Card card = default_card(*find_decoder("depth"));
  std::optional<PlanFacts> plan = PlanFacts{};
  plan->keep_fp32 = {{"of frames"}};
  plan->keep_fp32_on_tensors = {{"of tensors"}};
  plan->card = to_toml(card);
  const auto found = [&](const Card* by) {
    return resolve_fp32_keep_list(graph, by, {.precision = Precision::kFp32}, plan);
  };
  EXPECT_EQ(found(&card), (Fp32KeepList{.values = {"of frames"}}));
  EXPECT_EQ(found(nullptr), (Fp32KeepList{.values = {"of tensors"}}));
  card.scale *= 255;
  EXPECT_EQ(found(&card), Fp32KeepList{}) << "what other pixels lead to was not looked for";
  plan->keep_fp32_on_tensors = {};
  EXPECT_EQ(found(nullptr), Fp32KeepList{}) << "nothing was looked for";
  plan->keep_for_accuracy = {"head"};
  EXPECT_EQ(found(nullptr), (Fp32KeepList{.products = {"head"}}));
  EXPECT_EQ(found(&card), (Fp32KeepList{.products = {"head"}})) << "of any card";
  plan = {};
  EXPECT_EQ(found(nullptr), Fp32KeepList{});
}

TEST(KeepList, HoldsWhatAutomaticPrecisionKeeps) {
  const test::TempFolder folder;
  const std::string plan = folder / "color.plan";
  const WrittenPlan written = write_plan(test::write_color_classifier(folder), plan,
                                         {.model = {.device = Device::cpu()}, .choose_precision = [](const Model&) {
                                            return DecidedPrecision{Precision::kBf16, {"head"}};
                                          }});
  EXPECT_EQ(written.precision, Precision::kBf16);
  EXPECT_EQ(written.keep_fp32, (Fp32KeepList{.products = {"head"}}));
  EXPECT_EQ(open_model(plan, {}).plan->keep_for_accuracy, NodeNames{"head"});
  EXPECT_EQ(open_model(plan, {.disabled_passes = {"fold_bias"}}).plan->keep_for_accuracy, NodeNames{"head"});
}

TEST(KeepList, AreKeptWhereAllPassesNameThem) {
  const test::TempFolder folder;
  const std::string model = test::write_color_classifier(folder);
  const std::string plan = folder / "color.plan";
  write_plan(model, plan, {});
  const auto is_known = [](const std::optional<PlanFacts>& facts) {
    EXPECT_EQ(facts->keep_fp32.has_value(), facts->keep_fp32_on_tensors.has_value());
    return facts->keep_fp32.has_value();
  };
  EXPECT_TRUE(is_known(open_model(plan, {}).plan));
  EXPECT_FALSE(is_known(open_model(plan, {.disabled_passes = {"fold_bias"}}).plan));
  EXPECT_FALSE(is_known(open_model(plan, {.only_passes = std::vector<std::string>{}}).plan));
  write_plan(model, plan, {.model = {.disabled_passes = {"fold_bias"}}});
  EXPECT_FALSE(is_known(open_model(plan, {}).plan));
}

}  // namespace
}  // namespace saccade
