#include "graph/target.hpp"

#include <gtest/gtest.h>

#include "runtime/reference_backend.hpp"
#include "support/graph_builder.hpp"

namespace saccade {
namespace {

/// A graph of one Relu.
Graph one_relu() {
  test::GraphBuilder b;
  return b.build({b.op("Relu", {b.input("x", {1, 3, 4, 4})})});
}

TEST(Target, HasNoKernelsByDefault) {
  const Target target;
  EXPECT_FALSE(target.layout_rule || target.can_fuse || target.has_kernel);
  EXPECT_TRUE(target.half_precision);
}

TEST(Target, CountsOnlyTacticsThatCompete) {
  const Graph graph = one_relu();
  const Node& relu = graph.node(graph.order().front());
  EXPECT_TRUE(cpu_backend().target().has_kernel(graph, relu));
  EXPECT_TRUE(reference_tactic().supports({graph, relu}));
  EXPECT_FALSE(has_kernel(reference_backend(), graph, relu));
}

TEST(Target, KeepsReferenceKernelsRowMajor) {
  const Graph graph = one_relu();
  const Node& relu = graph.node(graph.order().front());
  EXPECT_EQ(reference_backend().target().layout_rule(graph, relu), LayoutRule::kRowMajor);
  EXPECT_EQ(cpu_backend().target().layout_rule(graph, relu), LayoutRule::kAny);
}

}  // namespace
}  // namespace saccade
