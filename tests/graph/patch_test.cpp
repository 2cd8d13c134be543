#include "graph/patch.hpp"

#include <gtest/gtest.h>

#include "graph/verify.hpp"
#include "support/graph_builder.hpp"

namespace saccade {
namespace {

using test::GraphBuilder;
using test::operators;

TEST(Patch, ReplacingAValueDropsWhatMadeItAndNothingElse) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2});
  const ValueId flat = b.op("Flatten", {x});
  const ValueId same = b.op("Identity", {flat});
  Graph graph = b.build({b.op("Reshape", {same, b.ints({2})})});

  Patch patch(graph, "skip Identity");
  patch.replace(same, flat);
  graph.apply(patch);

  EXPECT_EQ(operators(graph), "Flatten Reshape");
  EXPECT_NO_THROW(verify(graph));
}

TEST(Patch, NewNodesMayReadWhatThePatchReplaces) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2});
  const ValueId y = b.op("Identity", {x});
  Graph graph = b.build({y});

  Patch patch(graph, "flatten the output");
  patch.replace(y, patch.add_node_with_output({.op = "Flatten", .name = "flatten", .inputs = {y}}));
  const auto added = graph.apply(patch);

  EXPECT_EQ(operators(graph), "Identity Flatten");
  ASSERT_EQ(added.size(), 1U);
  EXPECT_EQ(graph.node(added[0]).op, "Flatten");
  EXPECT_EQ(graph.value(graph.outputs()[0]).name, "Identity0") << "an output keeps its name";
  EXPECT_NO_THROW(verify(graph));
}

TEST(Patch, AnOutputListedTwiceKeepsItsName) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2});
  const ValueId y = b.op("Identity", {x});
  Graph graph = b.build({y, y});

  Patch patch(graph, "flatten both");
  patch.replace(y, patch.add_node_with_output({.op = "Flatten", .name = "flatten", .inputs = {x}}));
  graph.apply(patch);

  EXPECT_EQ(graph.outputs()[0], graph.outputs()[1]);
  EXPECT_EQ(graph.value(graph.outputs()[0]).name, "Identity0");
}

TEST(Graph, ReleasesConstantsThatNothingReads) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2});
  const ValueId used = b.ints({2});
  const ValueId unused = b.ints({3});
  Graph graph = b.build({b.op("Reshape", {x, used})});

  graph.release_unread_constants();

  EXPECT_NE(graph.constant(used), nullptr);
  EXPECT_EQ(graph.constant(unused), nullptr);
}

TEST(Graph, ManyReadersOfAValueGoOneByOne) {
  constexpr int kReaders = 100'000;
  GraphBuilder b;
  const ValueId x = b.input("x", {2});
  std::vector<NodeId> readers;
  for (int i = 0; i < kReaders; ++i) readers.push_back(b.graph().value(b.op("Relu", {x})).producer);
  Graph graph = b.build({b.op("Abs", {x})});
  ASSERT_EQ(graph.users(x).size(), kReaders + 1U);

  for (NodeId reader : readers) {
    Patch patch(graph, "drop");
    patch.drop(reader);
    graph.apply(patch);
  }

  EXPECT_EQ(operators(graph), "Abs");
  EXPECT_EQ(graph.users(x).size(), 1U);
}

TEST(Patch, AReaderOfBothValuesReadsTheReplacementOnce) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2});
  const ValueId y = b.op("Identity", {x});
  Graph graph = b.build({b.op("Add", {x, y})});

  Patch patch(graph, "skip Identity");
  patch.replace(y, x);
  graph.apply(patch);

  EXPECT_EQ(graph.users(x), (std::set<NodeId>{graph.value(graph.outputs()[0]).producer}));
  EXPECT_TRUE(graph.users(y).empty());
  EXPECT_NO_THROW(verify(graph));
}

}  // namespace
}  // namespace saccade
