#include <gmock/gmock.h>

#include "cuda/libraries/cublaslt_api.hpp"
#include "self_test/emulated_device.hpp"

// The emulated cuBLASLt computes what cuBLASLt documents and rejects invalid calls.
namespace saccade::emulator {
namespace {

using ::testing::ElementsAre;

class EmulatedCublasLt : public ::testing::Test {
 protected:
  void SetUp() override {
    void* library = dlopen("libcublasLt.so.13", RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
#define SACCADE_RESOLVE(name, parameters) api_.name = reinterpret_cast<decltype(api_.name)>(dlsym(library, #name));
    SACCADE_CUBLASLT(SACCADE_RESOLVE)
#undef SACCADE_RESOLVE
    ASSERT_EQ(api_.cublasLtMatmulDescCreate(&product_, CUBLAS_COMPUTE_32F, CUDA_R_32F), CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(api_.cublasLtMatmulPreferenceCreate(&preference_), CUBLAS_STATUS_SUCCESS);
    const std::uint64_t workspace = 1 << 20;
    api_.cublasLtMatmulPreferenceSetAttribute(preference_, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, 8);
  }
  void TearDown() override {
    for (cublasLtMatrixLayout_t layout : layouts_) api_.cublasLtMatrixLayoutDestroy(layout);
    api_.cublasLtMatmulPreferenceDestroy(preference_);
    api_.cublasLtMatmulDescDestroy(product_);
  }

  cublasLtMatrixLayout_t layout(std::uint64_t rows, std::uint64_t columns, std::int64_t pitch) {
    layouts_.emplace_back();
    EXPECT_EQ(api_.cublasLtMatrixLayoutCreate(&layouts_.back(), CUDA_R_32F, rows, columns, pitch),
              CUBLAS_STATUS_SUCCESS);
    return layouts_.back();
  }
  /// Algorithms offered for A x B.
  std::vector<cublasLtMatmulHeuristicResult_t> offered(cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                                       cublasLtMatrixLayout_t d) {
    std::vector<cublasLtMatmulHeuristicResult_t> results(8);
    int got = 0;
    status_ = api_.cublasLtMatmulAlgoGetHeuristic(nullptr, product_, a, b, d, d, preference_, 8, results.data(), &got);
    results.resize(static_cast<std::size_t>(got));
    return results;
  }
  cublasStatus_t multiply(CUdeviceptr a, cublasLtMatrixLayout_t a_layout, CUdeviceptr b,
                          cublasLtMatrixLayout_t b_layout, CUdeviceptr d, cublasLtMatrixLayout_t d_layout,
                          CUstream stream, float beta = 0) {
    const auto algorithm = offered(a_layout, b_layout, d_layout).back().algo;
    const float alpha = 2;
    const auto pointer = [](CUdeviceptr address) { return reinterpret_cast<void*>(address); };
    return api_.cublasLtMatmul(nullptr, product_, &alpha, pointer(a), a_layout, pointer(b), b_layout, &beta, pointer(d),
                               d_layout, pointer(d), d_layout, &algorithm, nullptr, 0, stream);
  }

  CublasLtApi api_;
  cublasLtMatmulDesc_t product_ = nullptr;
  cublasLtMatmulPreference_t preference_ = nullptr;
  std::vector<cublasLtMatrixLayout_t> layouts_;
  cublasStatus_t status_ = CUBLAS_STATUS_SUCCESS;
};

TEST_F(EmulatedCublasLt, MultipliesColumnByColumn) {
  EmulatedDevice device;
  const CUdeviceptr a = device.upload<float>({1, 2, -1, 3, 4, -1});  // [1 3; 2 4] with a padded pitch
  const CUdeviceptr b = device.upload<float>({1, 0, 10, 1});         // [1 10; 0 1]
  const CUdeviceptr d = device.upload<float>({1, 1, 1, 1});
  const auto square = layout(2, 2, 2);
  ASSERT_EQ(multiply(a, layout(2, 2, 3), b, square, d, square, device.stream, 1), CUBLAS_STATUS_SUCCESS);
  EXPECT_THAT(device.download<float>(d, 4), ElementsAre(3, 5, 27, 49));
}

TEST_F(EmulatedCublasLt, RefusesInvalidCalls) {
  const auto square = layout(2, 2, 2);
  EXPECT_EQ(offered(square, square, square).size(), 3U);  // all but the one that needs 16-byte pitches
  EXPECT_TRUE(offered(layout(2, 3, 2), square, square).empty());
  EXPECT_EQ(status_, CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_TRUE(offered(layout(2, 2, 1), square, square).empty());
  EXPECT_EQ(status_, CUBLAS_STATUS_INVALID_VALUE);
  const std::int32_t batches = 2;
  const auto batched = layout(2, 2, 2);
  api_.cublasLtMatrixLayoutSetAttribute(batched, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batches, sizeof(batches));
  EXPECT_TRUE(offered(batched, square, square).empty());
  EXPECT_TRUE(offered(batched, batched, batched).empty()) << "its outputs overlap";
}

TEST_F(EmulatedCublasLt, EndsWhereAMatrixReachesOutOfMemory) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        EmulatedDevice device;
        const CUdeviceptr a = device.upload<float>({1, 2, 3, 4});
        const auto square = layout(2, 2, 2);
        multiply(a, layout(2, 2, 3), a, square, device.allocate(16), square, device.stream);
        device.driver.cuStreamSynchronize(device.stream);
      },
      "A is not 20 bytes of device memory");
}

}  // namespace
}  // namespace saccade::emulator
