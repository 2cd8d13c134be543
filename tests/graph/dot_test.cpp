#include "graph/dot.hpp"

#include <gtest/gtest.h>

#include "support/graph_builder.hpp"

namespace saccade {
namespace {

using test::GraphBuilder;

bool holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(Dot, HasABoxANodeAndAnEdgeARead) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2, 3});
  const ValueId sum = b.op("Add", {x, b.random({2, 3})});
  Graph graph = b.build({b.op("Mul", {sum, x})});
  graph.node(NodeId{0}).post_ops.push_back({.op = "Relu"});

  const std::string dot = to_dot(graph);

  EXPECT_TRUE(holds(dot, "v0 [shape=oval, label=\"x\\nfloat32 2x3\"];")) << dot;
  EXPECT_TRUE(holds(dot, "n0 [label=\"Add + Relu\\nAdd0\\nfloat32 2x3\"];")) << dot;
  EXPECT_TRUE(holds(dot, "v0 -> n0 [label=\"float32 2x3\"];")) << dot;
  EXPECT_TRUE(holds(dot, "n0 -> n1 [label=\"float32 2x3\"];")) << dot;
  EXPECT_TRUE(holds(dot, "v0 -> n1 ")) << dot;
  EXPECT_TRUE(holds(dot, "n1 -> o0 ")) << dot;
}

TEST(Dot, NamesCanNotEndTheirQuotes) {
  GraphBuilder b;
  const ValueId x = b.input("a\"];\nevil [label=\"\\", {1});
  Graph graph = b.build({b.op("Relu", {x})});
  graph.name = "\xFF\x01g\xC3\xA4" + std::string(1000, 'n');

  const std::string dot = to_dot(graph);

  EXPECT_TRUE(holds(dot, "label=\"a\\\"];\\nevil [label=\\\"\\\\\\nfloat32 1\"];")) << dot;
  EXPECT_TRUE(dot.starts_with("digraph \"??g\xC3\xA4nnn")) << dot;
  EXPECT_TRUE(holds(dot, "nnn...\" {")) << dot;
}

TEST(Dot, NamesAreEscaped) {
  GraphBuilder b;
  const ValueId x = b.input("a\u009b2J\u202eb\x1b\x7f", {1});
  EXPECT_TRUE(holds(to_dot(b.build({b.op("Relu", {x})})), "label=\"a?2J?b??\\nfloat32 1\""));
}

TEST(Dot, AConstantOutputIsANode) {
  GraphBuilder b;
  b.input("x", {1});
  const Graph graph = b.build({b.scalar(1)});
  EXPECT_TRUE(holds(to_dot(graph), "o0 [shape=oval, label=\"c0\\nfloat32 scalar\"];")) << to_dot(graph);
}

}  // namespace
}  // namespace saccade
