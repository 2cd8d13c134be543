#include "passes/core/manager.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "passes/core/check.hpp"
#include "passes/rewrite.hpp"
#include "support/graph_builder.hpp"

namespace saccade {
namespace {

using test::GraphBuilder;
using test::operators;
using testing::HasSubstr;

/// Three nodes that one pass removes one by one.
Graph identities() {
  GraphBuilder b;
  const ValueId x = b.input("x", {2, 3});
  const ValueId y = b.op("Flatten", {b.op("Identity", {b.op("Identity", {x})})}, {{"axis", std::int64_t{2}}});
  return b.build({b.op("Identity", {y})});
}

TEST(RunPasses, ReportsWhatEveryPassDid) {
  Graph graph = identities();

  const PassReport report = run_passes(graph, {.disabled = passes_except({"remove_identity"})});

  ASSERT_FALSE(report.passes.empty());
  EXPECT_EQ(report.passes[0].name, "remove_identity");
  EXPECT_EQ(report.passes[0].patches, 3);
  EXPECT_EQ(report.passes[0].nodes_before, 4U);
  EXPECT_EQ(report.passes[0].nodes_after, 1U);
  EXPECT_EQ(print_patches(report).str(),
            "#1 remove_identity: Identity0 (Identity)\n"
            "#2 remove_identity: Identity1 (Identity)\n"
            "#3 remove_identity: Identity3 (Identity)\n");
}

TEST(RunPasses, StopsAfterTheGivenNumberOfPatches) {
  Graph graph = identities();

  const PassReport report = run_passes(graph, {.max_patches = 2});

  EXPECT_EQ(report.patches.size(), 2U);
  EXPECT_EQ(operators(graph), "Flatten Identity");
}

TEST(RunPasses, DoesNothingWithEveryPassDisabled) {
  Graph graph = identities();
  EXPECT_TRUE(run_passes(graph, {.disabled = passes_except({})}).passes.empty());
  EXPECT_EQ(graph.node_count(), 4U);
}

TEST(RunPasses, NamesTheLastPasses) {
  const std::vector<std::string> all = pass_names();
  EXPECT_EQ(passes_from(all.back()), PassNames{all.back()});
  EXPECT_EQ(passes_from(all.front()), PassNames(all.begin(), all.end()));
}

TEST(RunPasses, ListsThePassesWhenANameIsUnknown) {
  Graph graph = identities();
  try {
    run_passes(graph, {.disabled = {"fold_everything"}});
    FAIL() << "an unknown pass was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(error.what(), HasSubstr("there is no pass 'fold_everything'; the passes are "));
    EXPECT_THAT(error.what(), HasSubstr("remove_identity"));
  }
}

TEST(RunPasses, ShowsTheGraphBeforeAndAfterEveryPass) {
  Graph graph = identities();
  std::vector<std::string> seen;
  PassOptions options{.disabled = passes_except({"remove_identity"})};
  options.on_graph = [&](std::string_view pass, const Graph& now) {
    seen.push_back(std::string(pass) + ":" + std::to_string(now.node_count()));
  };

  run_passes(graph, options);

  ASSERT_GE(seen.size(), 2U);
  EXPECT_EQ(seen[0], ":4");
  EXPECT_EQ(seen[1], "remove_identity:1");
}

TEST(RunPasses, ReportsWhatTheCheckCompared) {
  Graph graph = identities();
  const PassReport unchecked = run_passes(graph, {.disabled = passes_except({"remove_identity"})});
  EXPECT_FALSE(unchecked.check);

  graph = identities();
  const PassReport report = run_passes(graph, {.disabled = passes_except({"remove_identity"}), .check = true});
  ASSERT_TRUE(report.check);
  EXPECT_EQ(report.check->compared,
            std::ranges::count_if(report.passes, [](const auto& each) { return each.patches != 0; }));
  EXPECT_GT(report.check->compared, 0);
  EXPECT_EQ(report.check->largest, 0) << "an identity changes nothing";
}

TEST(ResultCheck, MeasuresADifferenceInSpreadsOfTheOutput) {
  GraphBuilder b;
  const ValueId x = b.input("x", {3});
  const ValueId shift = b.floats({3}, {0, 0, 0});
  Graph graph = b.build({b.op("Add", {x, shift})});
  ResultCheck check(graph, {{"x", Tensor::of<float>({3}, {10, 12, 14})}});

  EXPECT_EQ(check.run_again(graph).spreads, 0);

  graph.value(shift).constant = Tensor::of<float>({3}, {0, 1, 0});
  const auto worst = check.run_again(graph);
  EXPECT_DOUBLE_EQ(worst.spreads, 0.25);
  EXPECT_EQ(worst.output, "Add0");
}

TEST(ResultCheck, SeesADifferenceInEveryType) {
  const auto differs = [](DType dtype, const Tensor& before, const Tensor& after) {
    GraphBuilder b;
    const ValueId held = b.constant(before);
    Graph graph = b.build({b.op("Cast", {held}, {{"to", static_cast<std::int64_t>(dtype)}})});
    ResultCheck check(graph, {});
    EXPECT_EQ(check.run_again(graph).spreads, 0);
    graph.value(held).constant = after;
    return check.run_again(graph).spreads > 0;
  };
  const Tensor two = Tensor::of<float>({2}, {1, 2});
  const Tensor three = Tensor::of<float>({2}, {1, 3});
  for (DType dtype : {DType::kFloat16, DType::kBFloat16, DType::kFloat64, DType::kInt16, DType::kUInt64, DType::kBool})
    EXPECT_TRUE(differs(dtype, Tensor::of<float>({2}, {1, 0}), three)) << to_string(dtype);
  EXPECT_TRUE(differs(DType::kString, two, three));
}

TEST(ResultCheck, DrawsAFrameForAPipeline) {
  GraphBuilder b;
  const ValueId pixels = test::frame_pixels(b)[0];
  const ValueId factor = b.scalar(1);
  Graph graph = b.build({b.op("Mul", {pixels, factor})});
  ResultCheck check(graph, {});

  EXPECT_EQ(check.run_again(graph).spreads, 0);
  graph.value(factor).constant = Tensor::scalar(2.0F);
  EXPECT_GT(check.run_again(graph).spreads, 0.5) << "a frame of noise is not black";
}

TEST(PassNames, AreListedOnce) {
  const auto names = pass_names();
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
  EXPECT_EQ(passes_except({names[0]}).size() + 1, names.size());
}

}  // namespace
}  // namespace saccade
