#include "ops/interpreter/cost.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/graph_builder.hpp"

namespace saccade {
namespace {

using test::GraphBuilder;

/// The steps of OP on inputs of these shapes, with an output of shape OUTPUT.
double steps(const std::string& op, const std::vector<Shape>& inputs, const Shape& output,
             const GraphBuilder::AttributeList& attributes = {}) {
  GraphBuilder b;
  std::vector<ValueId> ids;
  for (const Shape& shape : inputs) ids.push_back(b.input("x" + std::to_string(ids.size()), shape));
  const ValueId made = b.op(op, ids, attributes);
  b.graph().value(made).type = {DType::kFloat32, output};
  return steps_of(b.graph(), *b.graph().producer(made));
}

constexpr std::int64_t kInt = 1;

TEST(Cost, WhatMovesElementsCountsBothSides) {
  EXPECT_EQ(steps("Relu", {{10}}, {10}), 20);
  EXPECT_EQ(steps("ReduceSum", {{1000}}, {}), 1001) << "all that is read, however little comes out";
}

TEST(Cost, ConvolutionsTakeAllTapsOfAFilter) {
  EXPECT_EQ(steps("Conv", {{1, 2, 8, 8}, {4, 2, 3, 3}}, {1, 4, 6, 6}), 4 * 36 * 18);
  EXPECT_EQ(steps("Conv", {{1, 2, 8, 8}, {4, 1, 3, 3}}, {1, 4, 6, 6}, {{"group", kInt * 2}}), 4 * 36 * 9);
  EXPECT_EQ(steps("ConvInteger", {{1, 2, 8, 8}, {4, 2, 3, 3}}, {1, 4, 6, 6}), 4 * 36 * 18);
  EXPECT_EQ(steps("QLinearConv", {{1, 2, 8, 8}, {}, {}, {4, 2, 3, 3}}, {1, 4, 6, 6}), 4 * 36 * 18);
  EXPECT_EQ(steps("ConvTranspose", {{1, 2, 8, 8}, {2, 4, 3, 3}}, {1, 4, 10, 10}), 128 * 36);
}

TEST(Cost, ProductsSumOverTheCommonDimension) {
  EXPECT_EQ(steps("MatMul", {{5, 20, 30}, {30, 40}}, {5, 20, 40}), 5 * 20 * 30 * 40);
  EXPECT_EQ(steps("MatMul", {{1000}, {1000}}, {}), 2001);
  EXPECT_EQ(steps("Gemm", {{30, 20}, {30, 40}}, {20, 40}, {{"transA", kInt}}), 20 * 30 * 40);
  EXPECT_EQ(steps("Einsum", {{20, 30}, {30, 40}}, {20, 40}, {{"equation", std::string("ij,jk->ik")}}), 20 * 30 * 40);
  EXPECT_EQ(steps("Det", {{7, 20, 20}}, {7}), 7 * 20 * 20 * 20);
}

TEST(Cost, AttentionMultipliesCurrentAndPastKeys) {
  // 4 heads of 8: 10 queries, 20 keys, 5 past keys.
  const std::vector<Shape> inputs = {{1, 4, 10, 8}, {1, 4, 20, 8}, {1, 4, 20, 8}, {10, 25}, {1, 4, 5, 8}};
  EXPECT_EQ(steps("Attention", inputs, {1, 4, 10, 8}), (320 + 320) * 25);
}

TEST(Cost, WindowsCountTheirPlacesAndNotTheirElements) {
  const std::vector<std::int64_t> kernel = {100, 50};
  EXPECT_EQ(steps("MaxPool", {{1, 1, 200, 200}}, {1, 1, 101, 151}, {{"kernel_shape", kernel}}), 101 * 151 * 5000);
  EXPECT_EQ(steps("LRN", {{1, 8, 4, 4}}, {1, 8, 4, 4}, {{"size", kInt * 5}}), 128 * 5);
  EXPECT_EQ(steps("LRN", {{1, 8, 4, 4}}, {1, 8, 4, 4}, {{"size", kInt << 60}}), 128 * 8) << "there are 8 channels";
}

TEST(Cost, RegionsTakeTheirSamples) {
  const std::vector<Shape> inputs = {{1, 2, 8, 8}, {3, 4}, {3}};
  EXPECT_EQ(steps("RoiAlign", inputs, {3, 2, 5, 5}, {{"sampling_ratio", kInt * 30}}), 150 * 900);
  EXPECT_EQ(steps("RoiAlign", inputs, {3, 2, 5, 5}), 150 * 4096.0 * 4096.0);
  EXPECT_EQ(steps("MaxRoiPool", {{1, 2, 8, 8}, {3, 5}}, {3, 2, 5, 5}), 150 * 64);
}

TEST(Cost, EveryBoxMayBeHeldAgainstEveryOther) {
  EXPECT_EQ(steps("NonMaxSuppression", {{2, 100, 4}, {2, 80, 100}}, {5, 3}), 2 * 80 * 100 * 100);
}

/// The number of 40 RoiAligns on constant maps, SIDE by SIDE, that are folded; each may take 4096 x 4096 samples.
int worked_out_of_40(std::int64_t side) {
  GraphBuilder b;
  const ValueId maps = b.random({1, 1, side, side});
  const ValueId regions = b.floats({1, 4}, {0, 0, 1, 1});
  const ValueId images = b.ints({0});
  std::vector<ValueId> aligned;
  for (int i = 0; i < 40; ++i) aligned.push_back(b.op("RoiAlign", {maps, regions, images}));
  const Graph graph = b.build(aligned);
  KnownValues known(graph);
  return static_cast<int>(std::ranges::count_if(aligned, [&](ValueId value) { return known.get(value) != nullptr; }));
}

TEST(KnownValues, ComputationIsBoundedInTotal) { EXPECT_EQ(worked_out_of_40(4), 29); }

TEST(KnownValues, AModelsOwnWeightsAllowMore) {
  EXPECT_EQ(worked_out_of_40(1024), 33) << "64 steps for each of 2^20 elements are four times 4096 x 4096";
}

}  // namespace
}  // namespace saccade
