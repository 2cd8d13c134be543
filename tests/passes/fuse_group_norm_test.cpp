#include "passes/rewrite.hpp"

namespace saccade {
namespace {

using test::GraphBuilder;
using test::last_node;
using test::operators;
using test::rewrite;

/// X, [2, 6, 4, 5], as TorchScript normalises its groups, without Mul and Add.
ValueId normalised(GraphBuilder& b, ValueId x, ValueId regroup, std::int64_t groups, float epsilon = 1e-3F) {
  const ValueId grouped = b.op("Reshape", {x, regroup});
  const ValueId norm =
      b.op("InstanceNormalization", {grouped, b.random({groups}), b.random({groups})}, {{"epsilon", epsilon}});
  return b.op("Reshape", {norm, b.ints({2, 6, 4, 5})});
}

TEST(FuseGroupNorm, FiresOnWhatTorchScriptWrites) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2, 6, 4, 5});
  const ValueId scaled = b.op("Mul", {normalised(b, x, b.ints({0, 3, -1}), 3), b.random({6, 1, 1})});
  Graph graph = b.build({b.op("Add", {scaled, b.random({6, 1, 1})})});

  EXPECT_EQ(rewrite(graph, "fuse_group_norm"), 3);
  EXPECT_EQ(operators(graph), "GroupNormalization");
  EXPECT_EQ(last_node(graph).attributes.integer("num_groups", 0), 3);
  EXPECT_EQ(last_node(graph).attributes.real("epsilon", 0), 1e-3F);
}

TEST(FuseGroupNorm, NeedsNoMulAndNoAdd) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2, 6, 4, 5});
  Graph graph = b.build({normalised(b, x, b.ints({2, 2, 3, 4, 5}), 2)});

  EXPECT_EQ(rewrite(graph, "fuse_group_norm"), 1);
  EXPECT_EQ(operators(graph), "GroupNormalization");
}

TEST(FuseGroupNorm, MakesGroupsOfOneChannelAnInstanceNormalization) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2, 6, 4, 5});
  Graph graph = b.build({normalised(b, x, b.ints({0, 6, -1}), 6)});

  EXPECT_EQ(rewrite(graph, "fuse_group_norm"), 1);
  EXPECT_EQ(operators(graph), "InstanceNormalization");
}

TEST(FuseGroupNorm, TakesArithmeticOfChannelsIntoScaleAndBias) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2, 6, 4, 5});
  const ValueId group =
      b.op("GroupNormalization", {x, b.random({3}), b.random({3})}, {{"num_groups", std::int64_t{3}}});
  const ValueId instance = b.op("InstanceNormalization", {x, b.random({6}), b.random({6})});
  const ValueId less = b.op("Sub", {b.random({1, 6, 1, 1}), b.op("Div", {group, b.random({6, 1, 1}, 1, 2)})});
  Graph graph = b.build({less, b.op("Add", {b.scalar(2), instance})});

  EXPECT_EQ(rewrite(graph, "fuse_group_norm"), 3);
  EXPECT_EQ(operators(graph), "GroupNormalization InstanceNormalization");
}

TEST(FuseGroupNorm, KeepsGroupsThatAreNoWholeChannels) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2, 6, 4, 5});
  // Four groups of six channels cut channels in two; a batch of one takes two images together.
  Graph graph = b.build({normalised(b, x, b.ints({0, 4, -1}), 4), normalised(b, x, b.ints({1, 3, -1}), 3)});
  EXPECT_EQ(rewrite(graph, "fuse_group_norm"), 0);
}

TEST(FuseGroupNorm, KeepsWhatIsShapedOtherwiseBehindIt) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2, 6, 4, 5});
  const ValueId grouped = b.op("Reshape", {x, b.ints({0, 3, -1})});
  const ValueId norm = b.op("InstanceNormalization", {grouped, b.random({3}), b.random({3})});
  Graph graph = b.build({b.op("Reshape", {norm, b.ints({2, 6, 5, 4})})});
  EXPECT_EQ(rewrite(graph, "fuse_group_norm"), 0);
}

TEST(FuseGroupNorm, KeepsWhatOthersReadAndParametersThatTheRunGives) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2, 6, 4, 5});
  const ValueId grouped = b.op("Reshape", {x, b.ints({0, 3, -1})});
  const ValueId norm = b.op("InstanceNormalization", {grouped, b.random({3}), b.random({3})});
  const ValueId given = b.op("InstanceNormalization", {grouped, b.input("scale", {3}), b.random({3})});
  Graph graph =
      b.build({norm, b.op("Reshape", {norm, b.ints({2, 6, 4, 5})}), b.op("Reshape", {given, b.ints({2, 6, 4, 5})})});
  EXPECT_EQ(rewrite(graph, "fuse_group_norm"), 0);
}

TEST(FuseGroupNorm, KeepsArithmeticAlongAnotherDimension) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2, 6, 4, 6});
  const ValueId norm = b.op("InstanceNormalization", {x, b.random({6}), b.random({6})});
  Graph graph = b.build({b.op("Mul", {norm, b.random({6})})});
  EXPECT_EQ(rewrite(graph, "fuse_group_norm"), 0);
}

}  // namespace
}  // namespace saccade
