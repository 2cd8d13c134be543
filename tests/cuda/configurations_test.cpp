#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "op_case/op_case.hpp"
#include "ops/layers/access_pattern.hpp"
#include "runtime/cuda_backend.hpp"
#include "runtime/tuning/candidate_check.hpp"
#include "support/graph_builder.hpp"

namespace saccade {
namespace {

constexpr std::size_t kTried = 3;

/// Runs the one node of GRAPH by TACTIC in its first configurations, and expects the reference's output.
void check(const Graph& graph, const std::string& name) {
  const Backend& backend = cuda_backend({});
  const Node& node = graph.node(graph.order().front());
  const NodeContext context{graph, node};
  const auto tactic = std::ranges::find(backend.tactics(), name, &Tactic::name);
  ASSERT_NE(tactic, backend.tactics().end());
  ASSERT_TRUE((*tactic)->supports(context)) << (*tactic)->supports(context).reason;
  const std::vector<std::string> configurations = (*tactic)->configurations(context, kTried);
  ASSERT_EQ(configurations.size(), kTried);
  CandidateCheck candidates(graph, node, backend, {name, ""});
  for (const std::string& configuration : configurations) {
    EXPECT_EQ(candidates.rejection({name, configuration}, 1), "") << configuration;
    NodeContext configured = context;
    configured.configuration = configuration;
    EXPECT_EQ((*tactic)->compile(configured)->detail(), configuration);
  }
  NodeContext unknown = context;
  for (const char* text : {"", "gather 99999x1x1 k1 w1x1x1 s1 p1", "product 1x1 k1 w1x1 p99", "nonsense"}) {
    unknown.configuration = text;
    EXPECT_EQ((*tactic)->compile(unknown)->detail(), configurations.front()) << text;
  }
}

/// The fields in which two configurations differ, by their first letter: "p" for pipeline stages.
std::string differences(const std::string& a, const std::string& b) {
  std::istringstream left(a);
  std::istringstream right(b);
  std::string found;
  for (std::string x, y; left >> x && right >> y;)
    if (x != y) found += x[0];
  return found;
}

/// Some configuration of TACTIC has neighbours that differ in nothing but each of WANTED, with equal outputs.
void check_near(const Graph& graph, const std::string& name, const std::vector<std::string>& wanted) {
  const Backend& backend = cuda_backend({});
  const Node& node = graph.node(graph.order().front());
  NodeContext context{graph, node};
  const Tactic& tactic = **std::ranges::find(backend.tactics(), name, &Tactic::name);
  ASSERT_TRUE(tactic.supports(context)) << tactic.supports(context).reason;
  const std::vector<std::string> centres = tactic.configurations(context, 16);
  std::map<std::string, std::string> found;  // by the fields in which they differ
  for (const std::string& centre : centres) {
    context.configuration = centre;
    const std::vector<std::string> near = tactic.configurations(context, 8);
    EXPECT_LE(near.size(), 8U);
    for (const std::string& each : near) {
      const std::string difference = differences(each, centre);
      EXPECT_NE(difference, "");
      found.emplace(difference, each);
    }
  }
  CandidateCheck candidates(graph, node, backend, {name, ""});
  for (const std::string& difference : wanted) {
    ASSERT_TRUE(found.contains(difference)) << difference;
    const std::string& configuration = found.at(difference);
    EXPECT_EQ(candidates.rejection({name, configuration}, 1), "") << configuration;
    context.configuration = configuration;
    EXPECT_EQ(tactic.compile(context)->detail(), configuration);
  }
  context.configuration = "nonsense";
  EXPECT_TRUE(tactic.configurations(context, 8).empty());
}

Graph convolution(std::int64_t groups, std::int64_t channels = 16) {
  test::GraphBuilder b;
  const ValueId x = b.input("x", {1, channels, 5, 5});
  Graph graph = b.build({b.op("Conv", {x, b.random({16, channels / groups, 3, 3}), b.random({16})},
                              {{"group", groups}, {"pads", std::vector<std::int64_t>{1, 1, 1, 1}}})});
  for (ValueId id : {graph.inputs()[0], graph.outputs()[0]}) graph.value(id).layout = Layout::kChannelsLast;
  return graph;
}

TEST(CudaConfigurations, OfConvolutionsGiveEqualOutputs) { check(convolution(1), "tiled.convolution"); }

TEST(CudaConfigurations, OfDepthwiseConvolutionsGiveEqualOutputs) { check(convolution(16), "depthwise.convolution"); }

TEST(CudaConfigurations, OfGemmsGiveEqualOutputs) {
  test::GraphBuilder b;
  check(b.build({b.op("MatMul", {b.input("x", {24, 32}), b.input("y", {32, 24})})}), "tiled.matmul");
  test::GraphBuilder c;
  check(c.build({c.op("MatMul", {c.input("x", {24, 32}), c.random({32, 24})})}), "tiled.matmul");
}

TEST(CudaConfigurations, OfWarpgroupGemmsGiveEqualOutputs) {
  test::GraphBuilder b;
  const ValueId weights = b.constant(random_elements(DType::kFloat16, {328, 136}, -0.2F, 0.2F, 7));
  check(b.build({b.op("MatMul", {b.input("x", {90, 328}, DType::kFloat16), weights})}), "warpgroup.product");
}

Graph attention() {
  test::GraphBuilder b;
  AccessPattern pattern;
  pattern.loops = {AccessPattern::Loop{}, AccessPattern::Loop{{260, 32}}, AccessPattern::Loop{{32, 1}}};
  const std::vector<std::int64_t> rows = pattern.to_integers();
  const auto input = [&](const char* name) { return b.input(name, {260, 32}, DType::kFloat16); };
  return b.build({b.op("saccade.StridedAttention", {input("q"), input("k"), input("v")},
                       {{"query", rows},
                        {"key", rows},
                        {"value", rows},
                        {"output", rows},
                        {"shape", std::vector<std::int64_t>{260, 32}}})});
}

TEST(CudaConfigurations, OfAttentionsGiveEqualOutputs) {
  check(attention(), "fused.attention");
  check(attention(), "warpgroup.attention");
}

TEST(CudaConfigurations, NearAConvolutionsGiveEqualOutputs) {
  check_near(convolution(1, 64), "tiled.convolution", {"kp", "w"});
}

TEST(CudaConfigurations, NearAnAttentionsGiveEqualOutputs) {
  check_near(attention(), "fused.attention", {"p"});
  check_near(attention(), "warpgroup.attention", {"p"});
}

TEST(CudaConfigurations, NearAGemmsGiveEqualOutputs) {
  test::GraphBuilder b;
  check_near(b.build({b.op("MatMul", {b.input("x", {24, 96}), b.input("y", {96, 24})})}), "tiled.matmul", {"p", "w"});
  test::GraphBuilder c;
  const ValueId x = c.input("x", {64, 1024}, DType::kFloat16);
  const Tensor weights = random_elements(DType::kFloat16, {1024, 64}, -1, 1, 3);
  check_near(c.build({c.op("MatMul", {x, c.constant(weights)})}), "warpgroup.product", {"p"});
}

}  // namespace
}  // namespace saccade
