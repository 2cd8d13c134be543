#include "passes/rewrite.hpp"

namespace saccade {
namespace {

using test::GraphBuilder;
using test::operators;
using test::rewrite;

TEST(FuseSilu, FiresInBothOperandOrders) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2, 3});
  const ValueId left = b.op("Mul", {x, b.op("Sigmoid", {x})});
  const ValueId right = b.op("Mul", {b.op("Sigmoid", {left}), left});
  Graph graph = b.build({right});

  EXPECT_EQ(rewrite(graph, "fuse_silu"), 2);
  EXPECT_EQ(operators(graph), "Silu Silu");
}

TEST(FuseSilu, KeepsAGateOfAnotherTensor) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2, 3});
  const ValueId y = b.input("y", {2, 3});
  Graph graph = b.build({b.op("Mul", {x, b.op("Sigmoid", {y})})});
  EXPECT_EQ(rewrite(graph, "fuse_silu"), 0);
}

TEST(FuseActivation, BecomesAPostOpOfANormalisation) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 2, 3, 3});
  Graph graph = b.build({b.op("Relu", {b.op("InstanceNormalization", {x, b.random({2}), b.random({2})})})});

  EXPECT_EQ(rewrite(graph, "fuse_activation"), 1);
  EXPECT_EQ(operators(graph), "InstanceNormalization|Relu");
}

TEST(FuseActivation, BecomesAPostOpWithItsParameters) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 2, 3, 3});
  const ValueId conv = b.op("Conv", {x, b.random({4, 2, 1, 1}, -9, 9)});
  const ValueId clipped = b.op("Clip", {conv, b.scalar(0), b.scalar(6)});
  Graph graph = b.build({clipped});

  EXPECT_EQ(rewrite(graph, "fuse_activation"), 1);

  ASSERT_EQ(operators(graph), "Conv|Clip");
  EXPECT_EQ(test::last_node(graph).name, "Conv0");
  EXPECT_EQ(test::last_node(graph).post_ops[0].alpha, 0);
  EXPECT_EQ(test::last_node(graph).post_ops[0].beta, 6);
}

TEST(FuseActivation, KeepsResultsForEveryActivation) {
  GraphBuilder b;
  const ValueId x = b.input("x", {3, 4});
  std::vector<ValueId> outputs;
  const auto add = [&](const std::string& op, const GraphBuilder::AttributeList& attributes = {}) {
    outputs.push_back(b.op(op, {b.op("Sub", {x, b.random({3, 4}, 0, 2)})}, attributes));
  };
  for (const char* op :
       {"Relu", "LeakyRelu", "Elu", "HardSigmoid", "HardSwish", "Sigmoid", "Tanh", "Gelu", "Exp", "saccade.Silu"})
    add(op);
  add("LeakyRelu", {{"alpha", 0.5F}});
  add("HardSigmoid", {{"alpha", 0.5F}, {"beta", 0.25F}});
  outputs.push_back(b.op("Clip", {b.op("Add", {x, b.random({3, 4})}), ValueId::kNone, b.scalar(0.5F)}));
  const auto count = static_cast<std::int64_t>(outputs.size());
  Graph graph = b.build(outputs);

  EXPECT_EQ(rewrite(graph, "fuse_activation"), count);
}

TEST(FuseActivation, KeepsOneWhoseInputHasAnotherReader) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 2, 3, 3});
  const ValueId conv = b.op("Conv", {x, b.random({4, 2, 1, 1})});
  Graph graph = b.build({b.op("Relu", {conv}), b.op("Abs", {conv})});
  EXPECT_EQ(rewrite(graph, "fuse_activation"), 0);
}

TEST(FuseActivation, KeepsOneBehindAnOutputOfTheGraph) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 2, 3, 3});
  const ValueId conv = b.op("Conv", {x, b.random({4, 2, 1, 1})});
  Graph graph = b.build({b.op("Relu", {conv}), conv});
  EXPECT_EQ(rewrite(graph, "fuse_activation"), 0);
}

TEST(FuseResidual, BecomesAPostOpThatReadsTheOtherTensor) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 2, 3, 3});
  const ValueId conv = b.op("Conv", {x, b.random({2, 2, 1, 1})});
  Graph graph = b.build({b.op("Relu", {b.op("Add", {conv, x})})});

  EXPECT_EQ(rewrite(graph, "fuse_residual"), 1);

  ASSERT_EQ(operators(graph), "Conv|Add Relu");
  const Node& fused = *graph.producer(test::last_node(graph).inputs[0]);
  EXPECT_EQ(fused.inputs, (std::vector<ValueId>{x, fused.inputs[1], ValueId::kNone, x}));
  EXPECT_EQ(fused.post_ops[0].operand, 3);
}

TEST(FuseResidual, TakesAlongWhatIsFusedToTheSum) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 2, 3, 3});
  const ValueId conv = b.op("Conv", {x, b.random({2, 2, 1, 1})});
  Graph graph = b.build({b.op("Relu", {b.op("Add", {x, conv})})});

  rewrite(graph, "fuse_activation");
  ASSERT_EQ(operators(graph), "Conv Add|Relu");
  rewrite(graph, "fuse_residual");

  EXPECT_EQ(operators(graph), "Conv|Add|Relu");
}

TEST(FuseResidual, KeepsAnAddOfTheProductWithItselfOrWithABroadcastTensor) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 2, 3, 3});
  const ValueId bias = b.input("bias", {1, 2, 1, 1});
  const ValueId doubled = b.op("Conv", {x, b.random({2, 2, 1, 1})});
  const ValueId shifted = b.op("Conv", {x, b.random({2, 2, 1, 1})});
  Graph graph = b.build({b.op("Add", {doubled, doubled}), b.op("Add", {shifted, bias})});
  EXPECT_EQ(rewrite(graph, "fuse_residual"), 0);
}

TEST(FuseResidual, KeepsAnAddOfAConstantToAConvolution) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 2, 3, 3});
  Graph graph = b.build({b.op("Add", {b.op("Conv", {x, b.random({2, 2, 1, 1})}), b.random({1, 2, 3, 3})})});
  EXPECT_EQ(rewrite(graph, "fuse_residual"), 0);
}

TEST(FuseResidual, KeepsAnAddOfWhatDependsOnTheProduct) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 2, 3, 3});
  const ValueId conv = b.op("Conv", {x, b.random({2, 2, 1, 1})});
  Graph graph = b.build({b.op("Add", {conv, b.op("Tanh", {conv})})});
  EXPECT_EQ(rewrite(graph, "fuse_residual"), 0);
}

TEST(FuseResidual, LooksThroughRenamedDimensionsOfAProductOfMatrices) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2, 3, 5});
  const ValueId product = b.op("Gemm", {b.op("Reshape", {x, b.ints({6, 5})}), b.random({5, 4})});
  const ValueId sum = b.op("Add", {b.input("y", {2, 3, 4}), b.op("Reshape", {product, b.ints({2, 3, 4})})});
  Graph graph = b.build({b.op("Relu", {sum})});

  rewrite(graph, "fuse_activation");
  EXPECT_EQ(rewrite(graph, "fuse_residual"), 1);

  EXPECT_EQ(operators(graph), "Reshape Reshape Gemm|Add|Relu Reshape");
}

/// As in position embeddings.
TEST(FuseResidual, RenamesAConstantThatIsAddedWithoutANode) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2, 3, 5});
  const ValueId product = b.op("Gemm", {b.op("Reshape", {x, b.ints({6, 5})}), b.random({5, 4})});
  const ValueId sum = b.op("Add", {b.random({2, 3, 4}), b.op("Reshape", {product, b.ints({2, 3, 4})})});
  Graph graph = b.build({sum});

  EXPECT_EQ(rewrite(graph, "fuse_residual"), 1);

  EXPECT_EQ(operators(graph), "Reshape Gemm|Add Reshape");
}

TEST(FuseResidual, KeepsAnAddBehindARenamedConvolutionOrOneThatIsReadTwice) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 2, 3, 3});
  const ValueId conv = b.op("Conv", {x, b.random({2, 2, 1, 1})});
  const ValueId flat = b.op("Reshape", {b.op("MatMul", {x, b.random({3, 3})}), b.ints({2, 9})});
  const ValueId y = b.input("y", {2, 9});
  const ValueId product = b.op("MatMul", {x, b.random({3, 3})});
  const ValueId renamed = b.op("Reshape", {product, b.ints({2, 9})});
  Graph graph = b.build({b.op("Add", {b.op("Reshape", {conv, b.ints({2, 9})}), y}), b.op("Add", {flat, y}), flat,
                         b.op("Add", {renamed, y}), b.op("Neg", {product})});
  EXPECT_EQ(rewrite(graph, "fuse_residual"), 0);
}

TEST(Pipeline, FusesAResidualBlockIntoItsConvolutions) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 4, 5, 5});
  const auto conv_bn = [&](ValueId input) {
    const ValueId conv = b.op("Conv", {input, b.random({4, 4, 1, 1})});
    return b.op("BatchNormalization", {conv, b.random({4}), b.random({4}), b.random({4}), b.random({4}, 1, 2)});
  };
  const ValueId first = conv_bn(x);
  const ValueId inner = b.op("Mul", {first, b.op("Sigmoid", {first})});
  const ValueId relu = b.op("Relu", {b.op("Add", {conv_bn(inner), x})});
  const ValueId swished = conv_bn(relu);
  const ValueId sum = b.op("Add", {relu, b.op("Mul", {swished, b.op("Sigmoid", {swished})})});
  Graph graph = b.build({sum});

  PassOptions options;
  options.check = true;
  run_passes(graph, options);

  EXPECT_EQ(operators(graph), "Conv|Silu Conv|Add|Relu Conv|Silu|Add");
}

TEST(FuseActivation, AChainOfAnyLengthDoesNotEndInOneNode) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 2, 3, 3});
  ValueId last = b.op("Conv", {x, b.random({4, 2, 1, 1})});
  for (int i = 0; i < 40; ++i) last = b.op("LeakyRelu", {last}, {{"alpha", 0.5F}});
  Graph graph = b.build({last});

  EXPECT_EQ(rewrite(graph, "fuse_activation"), 16);

  EXPECT_EQ(graph.node(graph.order()[0]).post_ops.size(), kMaxPostOps);
  EXPECT_EQ(graph.node_count(), 1U + 40 - 16);
}

TEST(FuseResidual, KeepsASumThatWouldHaveTooManyPostOps) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 4, 3, 3});
  ValueId last = b.op("Conv", {x, b.random({4, 4, 1, 1})});
  for (int i = 0; i < 16; ++i) last = b.op("LeakyRelu", {last}, {{"alpha", 0.5F}});
  Graph graph = b.build({b.op("Add", {last, x})});

  rewrite(graph, "fuse_activation");

  EXPECT_EQ(rewrite(graph, "fuse_residual"), 0);
}

}  // namespace
}  // namespace saccade
