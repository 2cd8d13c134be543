#include <gtest/gtest.h>

#include "pipeline/model/open_model.hpp"
#include "pipeline/model/write_plan.hpp"
#include "support/graph_builder.hpp"
#include "support/temp_folder.hpp"
#include "support/tiny_models.hpp"
#include "vision/recognise.hpp"

namespace saccade {
namespace {

TEST(WideValues, AreThePlansForWhatItWasMadeFor) {
  test::GraphBuilder b;
  const Graph graph = b.build({b.op("Relu", {b.input("x", {1, 3, 4, 4})})});
  Card card = default_card(*find_decoder("depth"));
  std::optional<PlanFacts> plan = PlanFacts{};
  plan->stay_wide = {{"of frames"}};
  plan->stay_wide_on_tensors = {{"of tensors"}};
  plan->card = to_toml(card);
  const auto found = [&](const Card* by) { return wide_values(graph, by, {.precision = "fp32"}, plan); };
  EXPECT_EQ(found(&card), ValueNames{"of frames"});
  EXPECT_EQ(found(nullptr), ValueNames{"of tensors"});
  card.scale *= 255;
  EXPECT_EQ(found(&card), ValueNames{}) << "what other pixels lead to was not looked for";
  plan->stay_wide_on_tensors = {};
  EXPECT_EQ(found(nullptr), ValueNames{}) << "nothing was looked for";
  plan = {};
  EXPECT_EQ(found(nullptr), ValueNames{});
}

TEST(WideValues, AreKeptWhereAllPassesNameThem) {
  const test::TempFolder folder;
  const std::string model = test::write_color_classifier(folder);
  const std::string plan = folder / "color.plan";
  write_plan(model, plan, {});
  const auto is_known = [](const std::optional<PlanFacts>& facts) {
    EXPECT_EQ(facts->stay_wide.has_value(), facts->stay_wide_on_tensors.has_value());
    return facts->stay_wide.has_value();
  };
  EXPECT_TRUE(is_known(open_model(plan, {}).plan));
  EXPECT_FALSE(is_known(open_model(plan, {.disabled_passes = {"fold_bias"}}).plan));
  EXPECT_FALSE(is_known(open_model(plan, {.only_passes = std::vector<std::string>{}}).plan));
  write_plan(model, plan, {.model = {.disabled_passes = {"fold_bias"}}});
  EXPECT_FALSE(is_known(open_model(plan, {}).plan));
}

}  // namespace
}  // namespace saccade
