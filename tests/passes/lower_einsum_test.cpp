#include "passes/rewrite.hpp"

namespace saccade {
namespace {

using test::GraphBuilder;
using test::operators;
using test::rewrite;

/// Rewrites one Einsum; rewrite() compares its results on random numbers.
std::string lowered(const std::string& equation, const std::vector<Shape>& shapes) {
  GraphBuilder b;
  std::vector<ValueId> inputs;
  for (const Shape& shape : shapes) inputs.push_back(b.input("x" + std::to_string(inputs.size()), shape));
  Graph graph = b.build({b.op("Einsum", inputs, {{"equation", equation}})});
  const Shape before = graph.value(graph.outputs()[0]).type.shape;
  const std::int64_t patches = rewrite(graph, "lower_einsum");
  EXPECT_EQ(graph.value(graph.outputs()[0]).type.shape, before);
  return patches == 0 ? "" : operators(graph);
}

constexpr const char* kProduct = "Transpose Reshape Transpose Reshape MatMul Reshape Transpose";

TEST(LowerEinsum, MakesAMatMul) {
  EXPECT_EQ(lowered("ij,jk->ik", {{2, 3}, {3, 4}}), kProduct);
  EXPECT_EQ(lowered("bchw,bnc->bnhw", {{2, 3, 4, 5}, {2, 6, 3}}), kProduct) << "the second operand's labels come first";
  EXPECT_EQ(lowered("bhid,bhjd->bhij", {{2, 3, 4, 5}, {2, 3, 6, 5}}), kProduct);
  EXPECT_EQ(lowered("abcd,cdae->eb", {{2, 3, 4, 5}, {4, 5, 2, 6}}), kProduct) << "several summed labels, no batch";
  EXPECT_EQ(lowered("i,i->", {{7}, {7}}), kProduct);
  EXPECT_EQ(lowered("...ij,...jk", {{2, 1, 3, 4}, {2, 1, 4, 5}}), kProduct);
  EXPECT_EQ(lowered("zxy,zyw->xzw", {{2, 3, 4}, {2, 4, 5}}), kProduct) << "the output's order is neither's";
}

TEST(LowerEinsum, LeavesWhatIsNoProductOfMatrices) {
  EXPECT_EQ(lowered("ii,ij->j", {{3, 3}, {3, 4}}), "") << "a diagonal";
  EXPECT_EQ(lowered("ijk,jl->il", {{2, 3, 4}, {3, 5}}), "") << "k is summed in one operand alone";
  EXPECT_EQ(lowered("...i,...i->...", {{2, 3}, {1, 3}}), "") << "broadcast";
  EXPECT_EQ(lowered("i,j->ij", {{2}, {3}}), "") << "nothing is summed";
  EXPECT_EQ(lowered("ij,jk,kl->il", {{2, 3}, {3, 4}, {4, 5}}), "") << "three operands";
  EXPECT_EQ(lowered("ij->ji", {{2, 3}}), "");
}

}  // namespace
}  // namespace saccade
