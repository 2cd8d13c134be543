#include <set>

#include "passes/rewrite.hpp"

namespace saccade {
namespace {

using test::GraphBuilder;
using test::operators;

/// A target that can fuse these operators.
PassOptions fusing() {
  PassOptions options;
  options.target.can_fuse = [](const Graph&, const Node& node) {
    static const std::set<std::string> kOps = {"Add",       "Cast",  "Concat",  "Exp",     "Fused", "Mul",
                                               "Relu",      "Sub",   "Reorder", "Reshape", "Slice", "Split",
                                               "Transpose", "Where", "Less",    "Sigmoid"};
    return kOps.contains(node.op);
  };
  return options;
}

std::int64_t rewrite(Graph& graph) { return test::rewrite(graph, "fuse_elements", fusing()); }

/// "Mul Add": what the node's body holds.
std::string inside(const Node& node) { return operators(*node.attributes.graph("body")); }

TEST(FuseElements, MakesOneNodeOfAChain) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2, 3, 4});
  const ValueId y = b.input("y", {4});
  Graph graph = b.build({b.op("Sigmoid", {b.op("Add", {b.op("Mul", {x, b.scalar(3)}), y})})});

  EXPECT_EQ(rewrite(graph), 2);
  EXPECT_EQ(operators(graph), "Fused");
  EXPECT_EQ(inside(test::last_node(graph)), "Mul Add Sigmoid");
  EXPECT_EQ(test::last_node(graph).inputs, (std::vector{x, y}));
  EXPECT_NE(print(graph).str().find("body={Mul, Add, Sigmoid}"), std::string::npos);
}

TEST(FuseElements, LooksThroughMovesAndKeepsTypesApart) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 4, 6});
  const ValueId low = b.op("Slice", {x, b.ints({0}), b.ints({2}), b.ints({1})});
  const ValueId high = b.op("Slice", {x, b.ints({2}), b.ints({4}), b.ints({1})});
  const ValueId joined = b.op("Concat", {b.op("Sub", {low, high}), b.op("Add", {low, high})}, {{"axis", 1L}});
  const ValueId whole = b.op("Cast", {b.op("Transpose", {joined}, {{"perm", std::vector<std::int64_t>{2, 1, 0}}})},
                             {{"to", std::int64_t{7}}});
  Graph graph = b.build({b.op("Reshape", {b.op("Mul", {whole, whole}), b.ints({24})})});

  EXPECT_GT(rewrite(graph), 0);
  EXPECT_EQ(operators(graph), "Fused Reshape") << print(graph).str();
}

TEST(FuseElements, WorksOutOnceWhatIsReadTwice) {
  GraphBuilder b;
  const ValueId x = b.input("x", {8});
  const ValueId shared = b.op("Relu", {x});
  Graph graph = b.build({b.op("Add", {b.op("Mul", {shared, b.scalar(2)}), b.op("Sub", {shared, b.scalar(1)})})});

  EXPECT_GT(rewrite(graph), 0);
  EXPECT_EQ(inside(test::last_node(graph)), "Relu Mul Sub Add");
}

TEST(FuseElements, GivesASplitToItsReaders) {
  GraphBuilder b;
  const auto halves = b.multi("Split", {b.input("x", {2, 6})}, 2, {{"axis", 1L}, {"num_outputs", 2L}});
  Graph graph = b.build({b.op("Relu", {halves[0]}), b.op("Exp", {halves[1]})});

  EXPECT_EQ(rewrite(graph), 2);
  EXPECT_EQ(operators(graph), "Fused Fused");
}

TEST(FuseElements, KeepsWhatIsNeededInMemory) {
  GraphBuilder b;
  const ValueId x = b.input("x", {4, 4});
  const ValueId result = b.op("Relu", {x});
  const ValueId factor = b.op("Exp", {x});
  const ValueId product = b.op("MatMul", {factor, x});
  Graph graph = b.build({result, b.op("Mul", {result, b.scalar(2)}), b.op("Add", {factor, product})});
  EXPECT_EQ(rewrite(graph), 0);
}

TEST(FuseElements, KeepsAViewThatSavesNoLaunch) {
  GraphBuilder b;
  const ValueId x = b.input("x", {4, 4});
  const ValueId made = b.op("Reshape", {b.op("MatMul", {x, x}), b.ints({16})});
  Graph graph = b.build({b.op("Relu", {made}), b.op("Reshape", {b.op("Exp", {x}), b.ints({2, 8})})});
  EXPECT_EQ(rewrite(graph), 0);
}

TEST(FuseElements, KeepsAConcatThatSomethingElseFills) {
  GraphBuilder b;
  const ValueId x = b.input("x", {4, 4});
  Graph graph = b.build({b.op("Concat", {b.op("Relu", {x}), b.op("MatMul", {x, x})}, {{"axis", 0L}})});
  EXPECT_EQ(rewrite(graph), 0);
}

TEST(FuseElements, KeepsWhatWouldBeWorkedOutTooOften) {
  GraphBuilder b;
  const ValueId line = b.op("Exp", {b.input("x", {1, 1024})});
  Graph graph = b.build({b.op("Add", {line, b.input("y", {1024, 1024})})});
  PassOptions options = fusing();
  options.disabled = passes_except({"fuse_elements"});
  EXPECT_TRUE(run_passes(graph, options).patches.empty());
}

TEST(FuseElements, NeedsABackend) {
  GraphBuilder b;
  Graph graph = b.build({b.op("Relu", {b.op("Exp", {b.input("x", {4})})})});
  EXPECT_EQ(test::rewrite(graph, "fuse_elements"), 0);
}

}  // namespace
}  // namespace saccade
