#include "cuda/libraries/cublaslt_api.hpp"

#include <gtest/gtest.h>

#include <type_traits>
#include <vector>

#if __has_include(<cublasLt.h>) && __has_include(<cuda_runtime_api.h>)
#include <cublasLt.h>
#define SACCADE_HAS_CUBLASLT_HEADER 1
#endif

namespace saccade {
namespace {

TEST(CublasLtApi, HasTheValuesAndLayoutsOfItsHeader) {
#ifdef SACCADE_HAS_CUBLASLT_HEADER
#define SACCADE_SAME(name) EXPECT_EQ(static_cast<int>(cuda::name), static_cast<int>(::name)) << #name
  SACCADE_SAME(CUBLAS_STATUS_SUCCESS);
  SACCADE_SAME(CUBLAS_STATUS_NOT_INITIALIZED);
  SACCADE_SAME(CUBLAS_STATUS_INVALID_VALUE);
  SACCADE_SAME(CUBLAS_STATUS_EXECUTION_FAILED);
  SACCADE_SAME(CUBLAS_STATUS_NOT_SUPPORTED);
  SACCADE_SAME(CUBLAS_OP_N);
  SACCADE_SAME(CUBLAS_OP_T);
  SACCADE_SAME(CUBLAS_COMPUTE_32F);
  SACCADE_SAME(CUBLAS_COMPUTE_32F_FAST_TF32);
  SACCADE_SAME(CUDA_R_32F);
  SACCADE_SAME(CUDA_R_16F);
  SACCADE_SAME(CUDA_R_16BF);
  SACCADE_SAME(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
  SACCADE_SAME(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
  SACCADE_SAME(CUBLASLT_MATMUL_DESC_TRANSA);
  SACCADE_SAME(CUBLASLT_MATMUL_DESC_TRANSB);
  SACCADE_SAME(CUBLASLT_MATMUL_DESC_EPILOGUE);
  SACCADE_SAME(CUBLASLT_MATMUL_DESC_BIAS_POINTER);
  SACCADE_SAME(CUBLASLT_EPILOGUE_DEFAULT);
  SACCADE_SAME(CUBLASLT_EPILOGUE_RELU);
  SACCADE_SAME(CUBLASLT_EPILOGUE_BIAS);
  SACCADE_SAME(CUBLASLT_EPILOGUE_RELU_BIAS);
  SACCADE_SAME(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE);
  SACCADE_SAME(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
  SACCADE_SAME(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK);
  SACCADE_SAME(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
  SACCADE_SAME(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES);
  SACCADE_SAME(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES);
  SACCADE_SAME(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
  SACCADE_SAME(CUBLASLT_ALGO_CONFIG_ID);
  SACCADE_SAME(CUBLASLT_ALGO_CONFIG_TILE_ID);
  SACCADE_SAME(CUBLASLT_ALGO_CONFIG_SPLITK_NUM);
  SACCADE_SAME(CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME);
  SACCADE_SAME(CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING);
  SACCADE_SAME(CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION);
  SACCADE_SAME(CUBLASLT_ALGO_CONFIG_STAGES_ID);
  SACCADE_SAME(CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID);
  SACCADE_SAME(CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID);
#undef SACCADE_SAME
  using Ours = cuda::cublasLtMatmulHeuristicResult_t;
  using Theirs = ::cublasLtMatmulHeuristicResult_t;
  EXPECT_EQ(sizeof(cuda::cublasLtMatmulAlgo_t), sizeof(::cublasLtMatmulAlgo_t));
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  EXPECT_EQ(offsetof(Ours, workspaceSize), offsetof(Theirs, workspaceSize));
  EXPECT_EQ(offsetof(Ours, state), offsetof(Theirs, state));
  EXPECT_EQ(offsetof(Ours, wavesCount), offsetof(Theirs, wavesCount));
#else
  GTEST_SKIP() << "needs cublasLt.h of cuBLAS 13";
#endif
}

#ifdef SACCADE_HAS_CUBLASLT_HEADER
// Arity of the entry points and which parameters are pointers, by width and kind: handles and enumerations are declared
// here.
template <typename T>
constexpr int kind_of() {
  return std::is_pointer_v<T> ? -8 : static_cast<int>(sizeof(T));
}
template <typename Result, typename... Parameters>
std::vector<int> kinds_of(Result (*)(Parameters...)) {
  return {kind_of<Result>(), kind_of<Parameters>()...};
}

TEST(CublasLtApi, HasTheParametersOfItsHeader) {
  const cuda::CublasLtApi ours;
#define SACCADE_SAME(name, parameters) \
  EXPECT_EQ(kinds_of(decltype(ours.name)()), kinds_of(decltype (&::name)())) << #name;
  SACCADE_CUBLASLT(SACCADE_SAME)
#undef SACCADE_SAME
}
#endif

}  // namespace
}  // namespace saccade
