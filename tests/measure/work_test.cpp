#include "measure/limits/work.hpp"

#include <gtest/gtest.h>

#include "measure/limits/work_rules.hpp"
#include "support/graph_builder.hpp"

namespace saccade {
namespace {

using test::GraphBuilder;

/// The work of the node that computes the graph's first output.
Work work_of_output(const Graph& graph, const WorkOptions& options = {}) {
  return work_of(graph, *graph.producer(graph.outputs()[0]), options);
}

TEST(Work, ConvolutionCountsProductsWithPixelsAlone) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 2, 4, 4});
  const Graph graph = b.build(
      {b.op("Conv", {x, b.random({3, 2, 3, 3}), b.random({3})}, {{"pads", std::vector<std::int64_t>{1, 1, 1, 1}}})});
  const Work work = work_of_output(graph);
  // Along an axis of 4 the taps of a padded 3 cover 3 + 4 + 3 pixels; 2 channels, 3 filters.
  EXPECT_EQ(work.products, 2.0 * 10 * 10 * 2 * 3);
  EXPECT_EQ(work.operations, work.products);
  EXPECT_EQ(work.precision, OperandType::kFloat32);
  EXPECT_EQ(work.weight_bytes, 4 * (3 * 2 * 9 + 3));
  EXPECT_EQ(work.read_bytes, 4 * 2 * 16);
  EXPECT_EQ(work.write_bytes, 4 * 3 * 16);
  EXPECT_EQ(macs_of(graph, *graph.producer(graph.outputs()[0])), 16 * 9 * 2 * 3);
}

TEST(Work, ConvolutionsThatWinogradsAlgorithmComputes) {
  const auto share_of = [](const Shape& weights, const GraphBuilder::AttributeList& attributes) {
    GraphBuilder b;
    const Graph graph = b.build({b.op("Conv", {b.input("x", {1, 2, 8, 8}), b.random(weights)}, attributes)});
    const Work work = work_of_output(graph);
    return work.winograd_products / work.products;
  };
  using Integers = std::vector<std::int64_t>;
  EXPECT_EQ(share_of({3, 2, 3, 3}, {}), 1);
  EXPECT_EQ(share_of({3, 2, 3, 3}, {{"pads", Integers{1, 1, 1, 1}}}), 1);
  EXPECT_EQ(share_of({3, 2, 1, 1}, {}), 0);
  EXPECT_EQ(share_of({3, 2, 5, 5}, {}), 0);
  EXPECT_EQ(share_of({3, 2, 3, 3}, {{"strides", Integers{2, 2}}}), 0);
  EXPECT_EQ(share_of({3, 2, 3, 3}, {{"dilations", Integers{2, 2}}}), 0);
  EXPECT_EQ(share_of({2, 1, 3, 3}, {{"group", std::int64_t{2}}}), 0);
}

TEST(Work, CountingEndsWhereTensorsAreLargerThanAnyMemory) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 24;
  GraphBuilder b;
  const Graph graph = b.build({b.op("MatMul", {b.input("x", {kHuge, kHuge}), b.input("y", {kHuge, kHuge})})});
  EXPECT_EQ(macs_of(graph, *graph.producer(graph.outputs()[0])), kMostProducts);
}

TEST(Work, StrideLeavesPixelsUnread) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 8, 4, 6});
  const Graph graph =
      b.build({b.op("Conv", {x, b.random({5, 8, 1, 1})}, {{"strides", std::vector<std::int64_t>{2, 2}}})});
  const Work work = work_of_output(graph);
  EXPECT_EQ(work.read_bytes, 4 * 8 * 2 * 3);
  EXPECT_EQ(work.products, 2.0 * 5 * 8 * 2 * 3);
}

TEST(Work, GroupsShareNothing) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 6, 5, 5});
  const Graph graph = b.build({b.op("Conv", {x, b.random({6, 1, 3, 3})}, {{"group", std::int64_t{6}}})});
  EXPECT_EQ(work_of_output(graph).products, 2.0 * 6 * 9 * 9);
}

TEST(Work, TransposedConvolutionExcludesCroppedOutputs) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 1, 1, 3});
  const ValueId y =
      b.op("ConvTranspose", {x, b.random({1, 2, 1, 3})}, {{"pads", std::vector<std::int64_t>{0, 1, 0, 1}}});
  // Three inputs reach 3 outputs each; the first and last of 5 outputs are cropped, which removes 2 of the 9 pairs.
  EXPECT_EQ(work_of_output(b.build({y})).products, 2.0 * 2 * 7);
}

TEST(Work, QuantizedConvolutionCountsBytes) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 4, 3, 3}, DType::kUInt8);
  const ValueId scale = b.scalar(0.5F);
  const ValueId zero = b.constant(Tensor::scalar(std::uint8_t{0}));
  const ValueId middle = b.constant(Tensor::scalar(std::int8_t{0}));
  const ValueId weights = b.constant(Tensor(DType::kInt8, {2, 4, 1, 1}));
  const Graph graph = b.build({b.op("QLinearConv", {x, scale, zero, weights, scale, middle, scale, zero})});
  const Work work = work_of_output(graph);
  EXPECT_EQ(work.precision, OperandType::kInt8);
  EXPECT_EQ(work.products, 2.0 * 2 * 4 * 9);
  EXPECT_EQ(work.read_bytes, 36);
  EXPECT_EQ(work.write_bytes, 18);
}

TEST(Work, MatrixProducts) {
  GraphBuilder b;
  const ValueId x = b.input("x", {3, 2, 8});
  const Work matmul = work_of_output(b.build({b.op("MatMul", {x, b.random({8, 5})})}));
  EXPECT_EQ(matmul.products, 2.0 * 3 * 2 * 5 * 8);
  EXPECT_EQ(matmul.weight_bytes, 4 * 40);
  GraphBuilder g;
  const ValueId a = g.input("a", {8, 2});
  const ValueId gemm = g.op("Gemm", {a, g.random({8, 5})}, {{"transA", std::int64_t{1}}});
  EXPECT_EQ(work_of_output(g.build({gemm})).products, 2.0 * 2 * 5 * 8);
  GraphBuilder e;
  const ValueId left = e.input("left", {3, 2, 8});
  const ValueId right = e.input("right", {3, 5, 8});
  const ValueId einsum = e.op("Einsum", {left, right}, {{"equation", std::string("bik,bjk->bij")}});
  EXPECT_EQ(work_of_output(e.build({einsum})).products, 2.0 * 3 * 2 * 5 * 8);
}

TEST(Work, AnOperandReadTwiceMovesOnce) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2, 3});
  const ValueId flat = b.op("Reshape", {x, b.ints({2, 3})});
  const Work work = work_of_output(b.build({b.op("Mul", {x, flat})}));
  EXPECT_EQ(work.read_bytes, 24);
  EXPECT_EQ(work.write_bytes, 24);
  EXPECT_EQ(work.operations, 6);
}

TEST(Work, AFusedOperandMovesToo) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 2, 4, 4});
  const ValueId residual = b.input("residual", {1, 3, 4, 4});
  const ValueId y = b.op("Conv", {x, b.random({3, 2, 1, 1})});
  Graph graph = b.build({y});
  const Work before = work_of_output(graph);
  Node& node = graph.node(graph.value(graph.outputs()[0]).producer);
  node.inputs = {node.inputs[0], node.inputs[1], ValueId::kNone, residual};
  node.post_ops = {{.op = "Add", .operand = 3}, {.op = "Relu"}};
  const Work after = work_of_output(graph);
  EXPECT_EQ(after.read_bytes - before.read_bytes, 4 * 48);
  EXPECT_EQ(after.operations - before.operations, 2 * 48);
  EXPECT_EQ(after.products, before.products);
}

TEST(Work, ViewsAreFree) {
  GraphBuilder b;
  const Work work = work_of_output(b.build({b.op("Reshape", {b.input("x", {2, 3}), b.ints({6})})}));
  EXPECT_EQ(work.activation_bytes() + work.weight_bytes, 0);
  EXPECT_EQ(work.operations, 0);
}

TEST(Work, MovesReadWhatTheyNeed) {
  GraphBuilder b;
  const ValueId x = b.input("x", {4, 10});
  const Work slice = work_of_output(b.build({b.op("Slice", {x, b.ints({0}), b.ints({2}), b.ints({1})})}));
  EXPECT_EQ(slice.read_bytes, 4 * 8);
  EXPECT_EQ(slice.weight_bytes, 0);
  EXPECT_EQ(slice.operations, 0);
  GraphBuilder g;
  const ValueId picked = g.op("Gather", {g.input("x", {100, 10}), g.ints({3, 3})});
  const Work gather = work_of_output(g.build({picked}));
  EXPECT_EQ(gather.read_bytes, 0);
  EXPECT_EQ(gather.write_bytes, 80);
}

TEST(Work, PoolsAndReductionsCountTheirInputs) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 1, 4, 4});
  const ValueId pooled =
      b.op("MaxPool", {x},
           {{"kernel_shape", std::vector<std::int64_t>{2, 2}}, {"strides", std::vector<std::int64_t>{3, 3}}});
  const Work pool = work_of_output(b.build({pooled}));
  EXPECT_EQ(pool.read_bytes, 4 * 4);  // one window of 2 x 2
  EXPECT_EQ(pool.operations, 4);
  GraphBuilder r;
  const ValueId sum = r.op("ReduceSum", {r.input("x", {3, 7}), r.ints({1})}, {{"keepdims", std::int64_t{0}}});
  EXPECT_EQ(work_of_output(r.build({sum})).operations, 21);
}

TEST(Work, EveryOperatorIsCountedByItsTraits) {
  GraphBuilder p;
  const Work pool = work_of_output(
      p.build({p.op("LpPool", {p.input("x", {1, 1, 4, 4})}, {{"kernel_shape", std::vector<std::int64_t>{2, 2}}})}));
  EXPECT_EQ(pool.operations, 16);
  GraphBuilder c;
  EXPECT_EQ(work_of_output(c.build({c.op("CumProd", {c.input("x", {3, 7}), c.ints({1})})})).operations, 21);
  GraphBuilder m;
  const ValueId x = m.input("x", {3, 7});
  EXPECT_EQ(work_of_output(m.build({m.op("Mean", {x, x, x})})).operations, 42);
}

TEST(Work, PreprocessReadsTheFrame) {
  GraphBuilder b;
  const ValueId frame = b.input("frame", {1}, DType::kFrame);
  const Graph graph = b.build({b.op("saccade.Preprocess", {frame},
                                    {{"width", std::int64_t{32}},
                                     {"height", std::int64_t{32}},
                                     {"resize", std::string("stretch")},
                                     {"color", std::string("rgb")}})});
  EXPECT_EQ(work_of_output(graph).read_bytes, 0);
  EXPECT_EQ(work_of_output(graph, {.frame = {PixelFormat::kYuyv, 64, 48}}).read_bytes, 2 * 64 * 48);
  // 640 rows to 32: two of every twenty are read.
  EXPECT_EQ(work_of_output(graph, {.frame = {PixelFormat::kGray8, 64, 640}}).read_bytes, 64 * 64);
  // A mosaic's rows need their neighbours.
  EXPECT_EQ(work_of_output(graph, {.frame = {PixelFormat::kBayerGrbg8, 64, 640}}).read_bytes, 2 * 64 * 64);
  EXPECT_EQ(work_of_output(graph, {.frame = {PixelFormat::kBayerGrbg8, 64, 48}}).read_bytes, 64 * 48);
  EXPECT_EQ(work_of_output(graph).write_bytes, 4 * 3 * 32 * 32);
}

TEST(Work, AnotherPrecisionNarrowsFloats) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 2, 4, 4});
  const Graph graph = b.build({b.op("Conv", {x, b.random({3, 2, 1, 1})})});
  const Work work = work_of_output(graph, {.precision = OperandType::kInt8});
  EXPECT_EQ(work.precision, OperandType::kInt8);
  EXPECT_EQ(work.weight_bytes, 6);
  EXPECT_EQ(work.read_bytes, 32);
  EXPECT_EQ(work.write_bytes, 48);
}

}  // namespace
}  // namespace saccade
