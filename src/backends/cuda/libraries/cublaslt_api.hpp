#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/driver/driver_api.hpp"

// The parts of the ABI of cuBLASLt 12 and 13 that are used, declared here so that building needs none of its headers.
// Names and values are cuBLASLt's.
namespace saccade::cuda {

using cublasLtHandle_t = struct cublasLtContext*;
using cublasLtMatmulDesc_t = struct cublasLtMatmulDescOpaque*;
using cublasLtMatrixLayout_t = struct cublasLtMatrixLayoutOpaque*;
using cublasLtMatmulPreference_t = struct cublasLtMatmulPreferenceOpaque*;

enum cublasStatus_t : int {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_NOT_INITIALIZED = 1,
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_EXECUTION_FAILED = 13,
  CUBLAS_STATUS_NOT_SUPPORTED = 15,
};
enum cublasOperation_t : int { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1 };
enum cublasComputeType_t : int { CUBLAS_COMPUTE_32F = 68, CUBLAS_COMPUTE_32F_FAST_TF32 = 77 };
enum cudaDataType_t : int { CUDA_R_32F = 0, CUDA_R_16F = 2, CUDA_R_16BF = 14 };
enum cublasLtMatrixLayoutAttribute_t : int {
  CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT = 5,
  CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET = 6,
};
enum cublasLtMatmulDescAttributes_t : int {
  CUBLASLT_MATMUL_DESC_TRANSA = 3,
  CUBLASLT_MATMUL_DESC_TRANSB = 4,
  CUBLASLT_MATMUL_DESC_EPILOGUE = 7,
  CUBLASLT_MATMUL_DESC_BIAS_POINTER = 8,
};
enum cublasLtEpilogue_t : int {
  CUBLASLT_EPILOGUE_DEFAULT = 1,
  CUBLASLT_EPILOGUE_RELU = 2,
  CUBLASLT_EPILOGUE_BIAS = 4,
  CUBLASLT_EPILOGUE_RELU_BIAS = 6,
};
enum cublasLtReductionScheme_t : int { CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE = 2 };
enum cublasLtMatmulPreferenceAttributes_t : int {
  CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1,
  CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK = 3,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES = 5,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES = 6,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES = 7,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES = 8,
};
enum cublasLtMatmulAlgoConfigAttributes_t : int {
  CUBLASLT_ALGO_CONFIG_ID = 0,
  CUBLASLT_ALGO_CONFIG_TILE_ID = 1,
  CUBLASLT_ALGO_CONFIG_SPLITK_NUM = 2,
  CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME = 3,
  CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING = 4,
  CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION = 5,
  CUBLASLT_ALGO_CONFIG_STAGES_ID = 6,
  CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID = 7,
  CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID = 8,
};

struct cublasLtMatmulAlgo_t {
  std::uint64_t data[8];
};
struct cublasLtMatmulHeuristicResult_t {
  cublasLtMatmulAlgo_t algo;
  std::size_t workspaceSize;
  cublasStatus_t state;
  float wavesCount;
  int reserved[4];
};

// clang-format off
#define SACCADE_CUBLASLT(X)                                                                                       \
  X(cublasLtCreate, (cublasLtHandle_t * handle))                                                                  \
  X(cublasLtMatmulDescCreate, (cublasLtMatmulDesc_t * made, cublasComputeType_t compute, cudaDataType_t scale))   \
  X(cublasLtMatmulDescDestroy, (cublasLtMatmulDesc_t product))                                                    \
  X(cublasLtMatmulDescSetAttribute, (cublasLtMatmulDesc_t product, cublasLtMatmulDescAttributes_t attribute,      \
                                     const void* value, std::size_t bytes))                                       \
  X(cublasLtMatrixLayoutCreate, (cublasLtMatrixLayout_t * made, cudaDataType_t type, std::uint64_t rows,          \
                                 std::uint64_t columns, std::int64_t pitch))                                      \
  X(cublasLtMatrixLayoutDestroy, (cublasLtMatrixLayout_t layout))                                                 \
  X(cublasLtMatrixLayoutSetAttribute, (cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t attribute,  \
                                       const void* value, std::size_t bytes))                                     \
  X(cublasLtMatmulPreferenceCreate, (cublasLtMatmulPreference_t * made))                                          \
  X(cublasLtMatmulPreferenceDestroy, (cublasLtMatmulPreference_t preference))                                     \
  X(cublasLtMatmulPreferenceSetAttribute, (cublasLtMatmulPreference_t preference,                                 \
                                           cublasLtMatmulPreferenceAttributes_t attribute, const void* value,     \
                                           std::size_t bytes))                                                    \
  X(cublasLtMatmulAlgoGetHeuristic, (cublasLtHandle_t handle, cublasLtMatmulDesc_t product,                       \
                                     cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,                          \
                                     cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,                          \
                                     cublasLtMatmulPreference_t preference, int requested,                        \
                                     cublasLtMatmulHeuristicResult_t* results, int* got))                         \
  X(cublasLtMatmulAlgoInit, (cublasLtHandle_t handle, cublasComputeType_t compute, cudaDataType_t scale,          \
                             cudaDataType_t a, cudaDataType_t b, cudaDataType_t c, cudaDataType_t d, int id,      \
                             cublasLtMatmulAlgo_t* algorithm))                                                    \
  X(cublasLtMatmulAlgoCheck, (cublasLtHandle_t handle, cublasLtMatmulDesc_t product, cublasLtMatrixLayout_t a,    \
                              cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,       \
                              const cublasLtMatmulAlgo_t* algorithm, cublasLtMatmulHeuristicResult_t* result))    \
  X(cublasLtMatmulAlgoConfigGetAttribute, (const cublasLtMatmulAlgo_t* algorithm,                                 \
                                           cublasLtMatmulAlgoConfigAttributes_t attribute, void* value,           \
                                           std::size_t bytes, std::size_t* written))                              \
  X(cublasLtMatmulAlgoConfigSetAttribute, (cublasLtMatmulAlgo_t * algorithm,                                      \
                                           cublasLtMatmulAlgoConfigAttributes_t attribute, const void* value,     \
                                           std::size_t bytes))                                                    \
  X(cublasLtMatmul, (cublasLtHandle_t handle, cublasLtMatmulDesc_t product, const void* alpha, const void* a,     \
                     cublasLtMatrixLayout_t a_layout, const void* b, cublasLtMatrixLayout_t b_layout,             \
                     const void* beta, const void* c, cublasLtMatrixLayout_t c_layout, void* d,                   \
                     cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t* algorithm, void* workspace,     \
                     std::size_t workspace_bytes, CUstream stream))
// clang-format on

struct CublasLtApi {
#define SACCADE_CUBLASLT_POINTER(name, parameters) cublasStatus_t(*name) parameters = nullptr;
  SACCADE_CUBLASLT(SACCADE_CUBLASLT_POINTER)
#undef SACCADE_CUBLASLT_POINTER
  const char* (*cublasLtGetStatusString)(cublasStatus_t status) = nullptr;
  std::size_t (*cublasLtGetVersion)() = nullptr;
};

}  // namespace saccade::cuda
