#include <fmt/format.h>

#include "op_case/op_case.hpp"
#include "passes/core/manager.hpp"
#include "pipeline/model/lowering.hpp"
#include "runtime/cuda_backend.hpp"
#include "support/graph_builder.hpp"
#include "tensor/half.hpp"

// GEMMs with constant weights on wgmma (kernels/warpgroup_gemm.cuh).
namespace saccade {
namespace {

constexpr Tolerance kWarpgroupHalf{.absolute = 4e-3, .relative = 4e-3};
constexpr Tolerance kWarpgroupBrain{.absolute = 3e-2, .relative = 3e-2};

OpCase matmul(DType dtype, std::int64_t rows, std::int64_t channels, std::int64_t filters) {
  OpCase it("MatMul");
  it.input(dtype, Shape{rows, channels}, -1, 1);
  it.constant(random_elements(dtype, Shape{channels, filters}, -0.2F, 0.2F, 7)).absent();
  return it;
}

TEST(CudaWarpgroup, MultiplyRowsByWeights) {
  // Rows, channels and filters that fill their tiles, and partial tiles of each.
  matmul(DType::kFloat16, 64, 64, 64).check(on_cuda("warpgroup.product"), kWarpgroupHalf);
  matmul(DType::kFloat16, 77, 136, 72).check(on_cuda("warpgroup.product"), kWarpgroupHalf);
  matmul(DType::kFloat16, 131, 200, 129).check(on_cuda("warpgroup.product"), kWarpgroupHalf);
  matmul(DType::kBFloat16, 70, 328, 130).check(on_cuda("warpgroup.product"), kWarpgroupBrain);
}

TEST(CudaWarpgroup, FinishSumsInRegisters) {
  auto activated = matmul(DType::kFloat16, 90, 72, 136);
  activated.post("Gelu").post_with_operand("Add");
  activated.check(on_cuda("warpgroup.product"), kWarpgroupHalf);
  OpCase gemm("Gemm");
  gemm.input(DType::kFloat16, Shape{66, 64}, -1, 1);
  gemm.constant(random_elements(DType::kFloat16, Shape{67, 64}, -0.2F, 0.2F, 8));
  gemm.constant(random_elements(DType::kFloat16, Shape{67}, -2, 2, 9));
  gemm.attribute("transB", std::int64_t{1}).attribute("alpha", 0.5F).attribute("beta", 2.0F);
  gemm.post_with_operand("Mul").check(on_cuda("warpgroup.product"), kWarpgroupHalf);
}

TEST(CudaWarpgroup, ShareLongSumsInClusters) {
  matmul(DType::kFloat16, 64, 1544, 64).post_with_operand("Add").check(on_cuda("warpgroup.product"), kWarpgroupHalf);
}

TEST(CudaWarpgroup, UseStagesAgain) {
  // Split-K with more k-steps per block than pipeline stages.
  matmul(DType::kFloat16, 64, 8200, 64).check(on_cuda("warpgroup.product"), kWarpgroupHalf);
}

TEST(CudaWarpgroup, AreConvolutionsOfOneTap) {
  OpCase it("Conv");
  it.input(DType::kFloat16, Shape{2, 64, 7, 9}, -1, 1);
  it.constant(random_elements(DType::kFloat16, Shape{96, 64, 1, 1}, -0.2F, 0.2F, 10));
  it.constant(random_elements(DType::kFloat16, Shape{96}, -2, 2, 11));
  it.post("Relu").check(on_cuda("warpgroup.product"), kWarpgroupHalf, Layout::kChannelsLast);
}

TEST(CudaWarpgroup, AreConvolutionsOfWindowsThatDontOverlap) {
  // Leftover rows and columns of each image; a window's runs are 3 times 8 elements.
  OpCase it("Conv");
  it.input(DType::kFloat16, Shape{2, 3, 29, 72}, -1, 1);
  it.constant(random_elements(DType::kFloat16, Shape{70, 3, 4, 8}, -0.2F, 0.2F, 12));
  it.attribute("strides", std::vector<std::int64_t>{4, 8});
  it.check(on_cuda("warpgroup.product"), kWarpgroupHalf, Layout::kChannelsLast);
  OpCase sparse("Conv");
  sparse.input(DType::kFloat16, Shape{2, 72, 13, 11}, -1, 1);
  sparse.constant(random_elements(DType::kFloat16, Shape{64, 72, 1, 1}, -0.2F, 0.2F, 13));
  sparse.attribute("strides", std::vector<std::int64_t>{2, 2});
  sparse.check(on_cuda("warpgroup.product"), kWarpgroupHalf, Layout::kChannelsLast);
}

/// Normalised rows: elements in LOW..HIGH, scaled and shifted afterwards.
OpCase normalized(DType dtype, std::int64_t rows, std::int64_t channels, std::int64_t filters, float low, float high) {
  OpCase it("NormalizedProduct", "saccade");
  it.input(dtype, Shape{rows, channels}, low, high);
  it.constant(random_elements(dtype, Shape{channels, filters}, -0.2F, 0.2F, 14));
  it.constant(random_elements(dtype, Shape{filters}, -2, 2, 15));
  it.constant(random_elements(dtype, Shape{channels}, 0.2F, 2, 16));
  it.constant(random_elements(dtype, Shape{channels}, -1, 1, 17));
  return it;
}

TEST(CudaWarpgroup, NormalizeRows) {
  // Rows, channels and filters that fill their tiles, and partial tiles of each; as many stages as k-steps, and fewer.
  normalized(DType::kFloat16, 64, 64, 64, -1, 1).check(on_cuda("warpgroup.product"), kWarpgroupHalf);
  normalized(DType::kFloat16, 77, 136, 72, -3, 1).check(on_cuda("warpgroup.product"), kWarpgroupHalf);
  normalized(DType::kFloat16, 131, 1000, 129, 0, 9).check(on_cuda("warpgroup.product"), kWarpgroupHalf);
  auto activated = normalized(DType::kBFloat16, 70, 328, 130, -1, 2);
  activated.post("Gelu").post_with_operand("Add").check(on_cuda("warpgroup.product"), kWarpgroupBrain);
}

TEST(CudaWarpgroup, NormalizeRowsFarFromZero) {
  // float16 values with a spacing of 1/2 and 32; rounded alike in both paths.
  normalized(DType::kFloat16, 66, 200, 70, 1000, 1004).check(on_cuda("warpgroup.product"), kWarpgroupHalf);
  normalized(DType::kFloat16, 66, 200, 70, -60000, -50000).check(on_cuda("warpgroup.product"), kWarpgroupHalf);
}

TEST(CudaWarpgroup, NormalizeRowsOfOneNumber) {
  // Only shift and bias remain; one outlier is most of the deviation.
  OpCase it("NormalizedProduct", "saccade");
  Tensor rows = random_elements(DType::kFloat16, Shape{65, 72}, -1, 1, 18);
  const auto elements = rows.data<Float16>();
  for (std::size_t i = 0; i < 72; ++i) elements[i] = Float16(37.3F);
  elements[72] = Float16(30000.0F);
  elements[2 * 72 + 5] = Float16(-30000.0F);
  it.input(std::move(rows));
  it.constant(random_elements(DType::kFloat16, Shape{66, 72}, -0.2F, 0.2F, 19));
  it.constant(random_elements(DType::kFloat16, Shape{66}, -2, 2, 20));
  it.constant(random_elements(DType::kFloat32, Shape{72}, 0.001F, 0.002F, 21));
  it.attribute("transB", std::int64_t{1}).attribute("alpha", 0.5F).attribute("beta", 2.0F);
  it.attribute("epsilon", 1e-6F).check(on_cuda("warpgroup.product"), kWarpgroupHalf);
}

/// A normalisation and the GEMM of its rows, after the passes.
Graph norm_and_product(DType dtype, std::int64_t filters) {
  test::GraphBuilder b;
  const auto constant = [&](const Shape& shape) { return b.constant(random_elements(dtype, shape, -0.2F, 0.2F, 22)); };
  const ValueId norm = b.op("LayerNormalization", {b.input("x", {1, 70, 72}, dtype), constant({72}), constant({72})});
  Graph graph = b.build({b.op("MatMul", {norm, constant({72, filters})})});
  run_passes(graph, pass_options({.device = Device::cuda()}, cuda_backend({})));
  return graph;
}

TEST(CudaWarpgroup, TakeInTheNormBefore) {
  const Graph folded = norm_and_product(DType::kFloat16, 64);
  EXPECT_EQ(test::operators(folded), "NormalizedProduct");
  expect_as_reference(folded, kWarpgroupHalf);
}

TEST(CudaWarpgroup, LeaveTheNormOfWhatTheyDontTake) {
  for (const Graph& graph : {norm_and_product(DType::kFloat16, 16), norm_and_product(DType::kFloat32, 64)})
    EXPECT_EQ(test::operators(graph), "LayerNormalization MatMul");
}

}  // namespace
}  // namespace saccade
