#include "graph/verify.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/print.hpp"
#include "support/graph_builder.hpp"

namespace saccade {
namespace {

using test::GraphBuilder;
using testing::HasSubstr;

std::string complaint(const Graph& graph) {
  try {
    verify(graph);
  } catch (const Error& error) {
    return error.what();
  }
  return "no complaint";
}

/// x -> Identity0 -> Flatten1, the output.
struct Chain {
  GraphBuilder builder;
  ValueId x = builder.input("x", {2, 3, 4});
  ValueId middle = builder.op("Identity", {x});
  ValueId y = builder.op("Flatten", {middle});
  Graph graph = builder.build({y});
};

TEST(Verify, AcceptsALegalGraph) {
  Chain chain;
  EXPECT_EQ(complaint(chain.graph), "no complaint");
}

TEST(Verify, NamesTheReaderOfAValueThatNothingMakes) {
  Chain chain;
  const ValueId orphan = chain.graph.add_value("orphan");
  chain.graph.add_node(
      {.op = "Identity", .name = "reader", .inputs = {orphan}, .outputs = {chain.graph.add_value("z")}});
  EXPECT_THAT(complaint(chain.graph), HasSubstr("node 'reader' (Identity) reads value 'orphan'"));
}

TEST(Verify, NamesANodeOnACycle) {
  Chain chain;
  NodeId first = chain.graph.value(chain.middle).producer;
  chain.graph.node(first).inputs[0] = chain.y;
  EXPECT_THAT(complaint(chain.graph), HasSubstr("depends on its own output"));
}

TEST(Verify, NamesAValueThatNamesAnotherProducer) {
  Chain chain;
  chain.graph.value(chain.y).producer = chain.graph.value(chain.middle).producer;
  EXPECT_THAT(complaint(chain.graph), HasSubstr("node 'Flatten1' (Flatten) produces value 'Flatten1'"));
}

TEST(Verify, NamesAValueWithUnlistedReaders) {
  Chain chain;
  chain.graph.node(chain.graph.value(chain.y).producer).inputs[0] = chain.x;
  EXPECT_THAT(complaint(chain.graph), HasSubstr("the list of readers of value"));
}

TEST(Verify, NamesAConstantThatDiffersFromItsType) {
  Chain chain;
  const ValueId target = chain.graph.add_constant("target", Tensor::of<std::int64_t>({1}, {24}));
  const ValueId z = chain.graph.add_value("z");
  chain.graph.add_node({.op = "Reshape", .name = "reshape", .inputs = {chain.x, target}, .outputs = {z}});
  chain.graph.value(target).type.shape = {2};
  EXPECT_THAT(complaint(chain.graph), HasSubstr("value 'target' (int64 2) is a constant of int64 1"));
}

TEST(Verify, RefusesChannelsLastBelowThreeDimensionsAndAtTheGraphsEdge) {
  Chain chain;
  chain.graph.value(chain.middle).layout = Layout::kChannelsLast;
  EXPECT_EQ(complaint(chain.graph), "no complaint");
  chain.graph.value(chain.x).layout = Layout::kChannelsLast;
  EXPECT_THAT(complaint(chain.graph), HasSubstr("must be row-major"));
  chain.graph.value(chain.y).layout = Layout::kChannelsLast;
  EXPECT_THAT(complaint(chain.graph), HasSubstr("fewer than 3 dimensions"));
}

TEST(Verify, RefusesPostOpsThatDoNotFit) {
  Chain chain;
  Node& node = chain.graph.node(chain.graph.value(chain.y).producer);
  node.post_ops = {{.op = "Relu"}};
  EXPECT_EQ(complaint(chain.graph), "no complaint");
  node.post_ops = {{.op = "Add"}};
  EXPECT_THAT(complaint(chain.graph), HasSubstr("post-op Add has no operand"));
  node.post_ops = {{.op = "Add", .operand = 1}};
  EXPECT_THAT(complaint(chain.graph), HasSubstr("post-op Add reads input 1, which is missing"));
  node.post_ops = {{.op = "Add", .operand = 0}};
  EXPECT_THAT(complaint(chain.graph), HasSubstr("differs from the output"));
}

TEST(Verify, RefusesTwoOutputsOfOneName) {
  Chain chain;
  const ValueId z = chain.graph.add_value("Flatten1", chain.graph.value(chain.y).type);
  chain.graph.add_node({.op = "Flatten", .name = "again", .inputs = {chain.x}, .outputs = {z}});
  chain.graph.add_output(z);
  EXPECT_THAT(complaint(chain.graph), HasSubstr("have the name 'Flatten1'"));
}

TEST(Print, ShowsOneLineANode) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2, 3, 4});
  const ValueId y = b.op("Reshape", {x, b.ints({6, 4})}, {{"allowzero", std::int64_t{1}}});
  Graph graph = b.build({b.op("Identity", {y})});
  graph.name = "tiny";
  graph.node(graph.value(y).producer).post_ops = {{.op = "LeakyRelu", .alpha = 0.5F}};

  EXPECT_EQ(print(graph).str(),
            "graph 'tiny', 2 nodes\n"
            "input  x: float32 2x3x4\n"
            "Reshape0 = Reshape(x, {6, 4}) [allowzero=1] | LeakyRelu(0.5, 0) -> Reshape0: float32 6x4\n"
            "Identity1 = Identity(Reshape0) -> Identity1: float32 6x4\n"
            "output Identity1: float32 6x4\n");
}

}  // namespace
}  // namespace saccade
