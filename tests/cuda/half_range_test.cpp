#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ops/interpreter/interpret.hpp"
#include "pipeline/model/compile.hpp"
#include "pipeline/model/half_range.hpp"
#include "support/graph_builder.hpp"
#include "tensor/numbers.hpp"
#include "vision/attach.hpp"
#include "vision/cards/recognise.hpp"

namespace saccade {
namespace {

const ModelOptions kHalves{.device = Device::cuda(), .precision = Precision::kFp16};

/// Three convolutions: the first yields sums of about 80,000, the second reduces them again.
Graph graph_past_halves() {
  test::GraphBuilder b;
  const ValueId large = b.op("Conv", {b.input("x", {1, 8, 4, 4}), b.random({8, 8, 1, 1}, 20000, 20001)});
  const ValueId small = b.op("Conv", {large, b.random({8, 8, 1, 1}, 1e-5F, 2e-5F)});
  return b.build({b.op("Conv", {small, b.random({8, 8, 1, 1})})});
}

std::vector<Tensor> run(const std::shared_ptr<const Plan>& plan, const Tensor& x) {
  Execution execution(plan);
  std::ranges::copy(x.data<float>(), execution.input(0).as<float>().begin());
  execution.run();
  return read_data_outputs(execution);
}

TEST(CudaHalfRange, KeepsInFloat32WhatPassesFloat16) {
  const Graph graph = graph_past_halves();
  const Tensor x = test::random_tensor({1, 8, 4, 4}, 3, 0, 1);
  const std::vector<Tensor> right = interpret(graph, {{"x", x}});
  const auto is_finite = [](float y) { return std::isfinite(y); };
  const std::vector<Tensor> lost = run(compile({.graph = graph, .options = kHalves, .keep_fp32 = Fp32KeepList{}}), x);
  EXPECT_FALSE(std::ranges::all_of(lost[0].data<float>(), is_finite)) << "nothing passes float16";

  const std::vector<Tensor> kept = run(compile({.graph = graph, .options = kHalves}), x);
  for (std::size_t i = 0; i < 128; ++i) EXPECT_NEAR(kept[0].data<float>()[i], right[0].data<float>()[i], 0.05) << i;
}

TEST(CudaHalfRange, NarrowsWhatStaysFarFromIt) {
  test::GraphBuilder b;
  const ValueId first = b.op("Conv", {b.input("x", {1, 8, 4, 4}), b.random({8, 8, 1, 1})});
  const Graph graph = b.build({b.op("Conv", {first, b.random({8, 8, 1, 1})})});
  EXPECT_TRUE(find_fp32_keep_list(graph, kHalves).empty());
  EXPECT_EQ(find_fp32_keep_list(graph_past_halves(), kHalves).size(), 1);
  EXPECT_TRUE(
      find_fp32_keep_list(graph_past_halves(), {.device = Device::cuda(), .precision = Precision::kBf16}).empty());
}

/// Sums over pixels of noise in 0..1 stay small, however many pixels.
TEST(CudaHalfRange, FeedsAreasOfImages) {
  test::GraphBuilder b;
  const ValueId first = b.op("Conv", {b.input("x", {1, 8, 16, 16}), b.random({8, 8, 1, 1}, 1900, 1901)});
  const Graph graph = b.build({b.op("Conv", {first, b.random({8, 8, 1, 1}, 1e-5F, 2e-5F)})});
  EXPECT_EQ(find_fp32_keep_list(graph, kHalves).size(), 1);
}

TEST(CudaHalfRange, LooksOnlyAtHalfPrecisionCandidates) {
  test::GraphBuilder b;
  const ValueId sums = b.op("Conv", {b.input("x", {1, 8, 8, 8}), b.random({8, 8, 1, 1}, 1000, 1001)});
  const ValueId total = b.op("ReduceSum", {sums, b.ints({2, 3})}, {{"keepdims", std::int64_t{0}}});
  const Graph graph = b.build({total});
  EXPECT_TRUE(find_fp32_keep_list(graph, kHalves).empty()) << "behind the last product nothing is narrowed";

  ModelOptions options = kHalves;
  options.disabled_passes = {"narrow_floats"};
  EXPECT_TRUE(find_fp32_keep_list(graph_past_halves(), options).empty());
}

TEST(CudaHalfRange, FeedsAllPixelsOfEightBits) {
  for (const DType dtype : {DType::kUInt8, DType::kInt8}) {
    test::GraphBuilder b;
    const ValueId x = b.op("Cast", {b.input("x", {1, 8, 4, 4}, dtype)}, {{"to", std::int64_t{1}}});
    const ValueId first = b.op("Conv", {x, b.random({8, 8, 1, 1}, 150, 151)});
    const Graph graph = b.build({b.op("Conv", {first, b.random({8, 8, 1, 1}, 1e-5F, 2e-5F)})});
    EXPECT_EQ(find_fp32_keep_list(graph, kHalves).size(), 1) << to_string(dtype);
  }
}

/// Names depend on what is an output: behind a frame's pipeline the last activation is not one.
TEST(CudaHalfRange, NamesValuesAsTheyAreBehindFrames) {
  test::GraphBuilder b;
  const ValueId image = b.input("image", {1, 3, 8, 8});
  const ValueId first = b.op("Conv", {image, b.random({4, 3, 1, 1}, 1, 2)});
  const ValueId depth = b.op("Relu", {b.op("Conv", {first, b.random({1, 4, 1, 1}, 100, 101)})});
  const Graph model = b.build({depth});
  Card card = default_card(*find_decoder("depth"));
  recognise_input(model, card);
  card.scale = 1;  // 0 to 255
  card.mean = {};
  card.std = {1, 1, 1};
  card.heads[0].outputs = {model.value(depth).name};
  const Graph graph = attach(model, card, {}).graph;
  EXPECT_TRUE(find_fp32_keep_list(model, kHalves).empty()) << "numbers 0 to 1 are too small";
  const ValueNames found = find_fp32_keep_list(graph, kHalves);
  EXPECT_EQ(found.size(), 1);

  const auto plan = compile({.graph = graph, .options = kHalves, .keep_fp32 = Fp32KeepList{.values = found}});
  Execution execution(plan);
  std::vector<std::uint8_t> white(8 * 8 * 3, 255);
  *execution.frame() = view_of(RgbView{white.data(), 24, 8, 8});
  execution.run();
  for (const Tensor& output : read_data_outputs(execution)) {
    const auto numbers = numbers_of(output);
    EXPECT_TRUE(!numbers || std::ranges::all_of(*numbers, [](double x) { return std::isfinite(x); }));
  }
}

/// Attention is one kernel on a GPU and several nodes on the CPU, which finds the range; the values before it have the
/// same names.
TEST(CudaHalfRange, LooksBesideAttentions) {
  test::GraphBuilder b;
  const ValueId x = b.input("x", {1, 6, 8});
  const auto project = [&](float size) { return b.op("MatMul", {x, b.random({8, 8}, size, 1.01F * size)}); };
  const ValueId keys = b.op("Transpose", {project(1)}, {{"perm", std::vector<std::int64_t>{0, 2, 1}}});
  const ValueId scores = b.op("MatMul", {project(1), keys});
  const ValueId weights = b.op("Softmax", {scores}, {{"axis", std::int64_t{-1}}});
  const ValueId products = b.op("MatMul", {weights, project(40000)});
  const Graph graph = b.build({b.op("MatMul", {products, b.random({8, 4}, 1e-5F, 2e-5F)})});
  EXPECT_EQ(find_fp32_keep_list(graph, kHalves).size(), 2) << "values, and the outputs that are means of them";
}

}  // namespace
}  // namespace saccade
