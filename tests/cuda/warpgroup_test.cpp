#include <fmt/format.h>

#include "cuda_case.hpp"

// Products with constant weights, on the tensor cores of a warpgroup (kernels/warpgroup_product.cuh).
namespace saccade {
namespace {

constexpr CudaTolerance kHalf{.absolute = 4e-3, .relative = 4e-3};
constexpr CudaTolerance kBrain{.absolute = 3e-2, .relative = 3e-2};

CudaCase matmul(DType dtype, std::int64_t rows, std::int64_t channels, std::int64_t filters) {
  CudaCase it("MatMul");
  it.input(dtype, Shape{rows, channels}, -1, 1);
  it.constant(random_elements(dtype, Shape{channels, filters}, -0.2F, 0.2F, 7)).absent();
  return it;
}

TEST(CudaWarpgroup, MultiplyRowsByWeights) {
  // Rows, channels and filters that fill their tiles, and tails of each.
  matmul(DType::kFloat16, 64, 64, 64).check("warpgroup.product", kHalf);
  matmul(DType::kFloat16, 77, 136, 72).check("warpgroup.product", kHalf);
  matmul(DType::kFloat16, 131, 200, 129).check("warpgroup.product", kHalf);
  matmul(DType::kBFloat16, 70, 328, 130).check("warpgroup.product", kBrain);
}

TEST(CudaWarpgroup, FinishSumsInRegisters) {
  auto activated = matmul(DType::kFloat16, 90, 72, 136);
  activated.post("Gelu").post_with_operand("Add");
  activated.check("warpgroup.product", kHalf);
  CudaCase gemm("Gemm");
  gemm.input(DType::kFloat16, Shape{66, 64}, -1, 1);
  gemm.constant(random_elements(DType::kFloat16, Shape{67, 64}, -0.2F, 0.2F, 8));
  gemm.constant(random_elements(DType::kFloat16, Shape{67}, -2, 2, 9));
  gemm.attribute("transB", std::int64_t{1}).attribute("alpha", 0.5F).attribute("beta", 2.0F);
  gemm.post_with_operand("Mul").check("warpgroup.product", kHalf);
}

TEST(CudaWarpgroup, ShareLongSumsInClusters) {
  matmul(DType::kFloat16, 64, 1544, 64).post_with_operand("Add").check("warpgroup.product", kHalf);
}

TEST(CudaWarpgroup, UseStagesAgain) {
  // A block's share of the sum is longer than any ring.
  matmul(DType::kFloat16, 64, 8200, 64).check("warpgroup.product", kHalf);
}

TEST(CudaWarpgroup, AreConvolutionsOfOneTap) {
  CudaCase it("Conv");
  it.input(DType::kFloat16, Shape{2, 64, 7, 9}, -1, 1);
  it.constant(random_elements(DType::kFloat16, Shape{96, 64, 1, 1}, -0.2F, 0.2F, 10));
  it.constant(random_elements(DType::kFloat16, Shape{96}, -2, 2, 11));
  it.post("Relu").check("warpgroup.product", kHalf, Layout::kChannelsLast);
}

TEST(CudaWarpgroup, AreConvolutionsOfWindowsThatDontOverlap) {
  // A line of each image is left over; a window's lines are 3 times 8 elements.
  CudaCase it("Conv");
  it.input(DType::kFloat16, Shape{2, 3, 29, 72}, -1, 1);
  it.constant(random_elements(DType::kFloat16, Shape{70, 3, 4, 8}, -0.2F, 0.2F, 12));
  it.attribute("strides", std::vector<std::int64_t>{4, 8});
  it.check("warpgroup.product", kHalf, Layout::kChannelsLast);
  CudaCase sparse("Conv");
  sparse.input(DType::kFloat16, Shape{2, 72, 13, 11}, -1, 1);
  sparse.constant(random_elements(DType::kFloat16, Shape{64, 72, 1, 1}, -0.2F, 0.2F, 13));
  sparse.attribute("strides", std::vector<std::int64_t>{2, 2});
  sparse.check("warpgroup.product", kHalf, Layout::kChannelsLast);
}

}  // namespace
}  // namespace saccade
