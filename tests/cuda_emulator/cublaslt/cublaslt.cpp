#include <cstring>
#include <mutex>
#include <set>
#include <utility>

#include "calls.hpp"
#include "cublaslt/cublaslt_algorithms.hpp"
#include "cublaslt/cublaslt_functions.hpp"
#include "emulator.hpp"

// cuBLASLt's entry points; see driver/driver.cpp. The first use of an algorithm with a type fails under capture, since
// the library would load its kernels then.
namespace saccade::emulator {
namespace {

#define SACCADE_BEGIN(function) \
  if (const int wanted = note_call(#function); wanted != 0) return static_cast<cublasStatus_t>(wanted)

template <typename T>
cublasStatus_t set(T& to, const void* value, std::size_t bytes) {
  if (value == nullptr || bytes != sizeof(T)) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&to, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

template <typename T, typename... Arguments>
cublasStatus_t make(T** made, Arguments... arguments) {
  *made = new T{arguments...};
  return CUBLAS_STATUS_SUCCESS;
}

/// Whether the kernels of algorithm ID are loaded, or may be loaded on STREAM.
bool are_loaded(std::uint32_t id, cudaDataType_t type, CUstream stream) {
  static std::mutex mutex;
  static auto& loaded = *new std::set<std::pair<std::uint32_t, cudaDataType_t>>;
  static const auto captures = reinterpret_cast<decltype(&emulator_captures)>(driver_symbol("emulator_captures"));
  const std::scoped_lock lock(mutex);
  if (loaded.contains({id, type})) return true;
  if (captures(stream)) return false;
  loaded.emplace(id, type);
  return true;
}

}  // namespace
}  // namespace saccade::emulator

namespace saccade::cuda {

using namespace emulator;

const char* cublasLtGetStatusString(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS: return "success";
    case CUBLAS_STATUS_NOT_INITIALIZED: return "the library was not initialized";
    case CUBLAS_STATUS_INVALID_VALUE: return "an unsupported value or parameter was passed to the function";
    case CUBLAS_STATUS_NOT_SUPPORTED: return "the functionality requested is not supported";
    default: return "the function failed to launch on the GPU";
  }
}

std::size_t cublasLtGetVersion() { return 130203; }

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  SACCADE_BEGIN(cublasLtCreate);
  return make(handle);
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* made, cublasComputeType_t compute, cudaDataType_t scale) {
  SACCADE_BEGIN(cublasLtMatmulDescCreate);
  return scale == CUDA_R_32F ? make(made, compute) : CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t product) {
  delete product;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t product, cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, std::size_t bytes) {
  SACCADE_BEGIN(cublasLtMatmulDescSetAttribute);
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_TRANSA: return set(product->turn_a, value, bytes);
    case CUBLASLT_MATMUL_DESC_TRANSB: return set(product->turn_b, value, bytes);
    case CUBLASLT_MATMUL_DESC_EPILOGUE: return set(product->epilogue, value, bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER: return set(product->bias, value, bytes);
  }
  return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* made, cudaDataType_t type, std::uint64_t rows,
                                          std::uint64_t columns, std::int64_t pitch) {
  SACCADE_BEGIN(cublasLtMatrixLayoutCreate);
  return make(made, type, static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns), pitch);
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete layout;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute, const void* value,
                                                std::size_t bytes) {
  SACCADE_BEGIN(cublasLtMatrixLayoutSetAttribute);
  switch (attribute) {
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT: return set(layout->batches, value, bytes);
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET: return set(layout->stride, value, bytes);
  }
  return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* made) {
  SACCADE_BEGIN(cublasLtMatmulPreferenceCreate);
  return make(made);
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  delete preference;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute, const void* value,
                                                    std::size_t bytes) {
  SACCADE_BEGIN(cublasLtMatmulPreferenceSetAttribute);
  if (attribute == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES) return set(preference->workspace, value, bytes);
  if (attribute == CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK) return set(preference->reductions, value, bytes);
  return set(preference->alignments[attribute], value, bytes);
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t product, cublasLtMatrixLayout_t a,
                                              cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c,
                                              cublasLtMatrixLayout_t d, cublasLtMatmulPreference_t preference,
                                              int requested, cublasLtMatmulHeuristicResult_t* results, int* got) {
  SACCADE_BEGIN(cublasLtMatmulAlgoGetHeuristic);
  *got = 0;
  if (const auto sense = look_at(*product, *a, *b, *c, *d); sense != CUBLAS_STATUS_SUCCESS) return sense;
  for (std::uint32_t id : {4U, 3U, 2U, 1U}) {
    const Fields fields = offered(id);
    cublasLtMatmulHeuristicResult_t result{.algo = algorithm_of(fields)};
    const bool can = look_at(fields, *a, *b, *c, *d, result) == CUBLAS_STATUS_SUCCESS;
    if (*got < requested && can && is_wanted(*preference, fields, result.workspaceSize)) results[(*got)++] = result;
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoInit(cublasLtHandle_t, cublasComputeType_t, cudaDataType_t, cudaDataType_t,
                                      cudaDataType_t, cudaDataType_t, cudaDataType_t, int id,
                                      cublasLtMatmulAlgo_t* algorithm) {
  SACCADE_BEGIN(cublasLtMatmulAlgoInit);
  if (id < 1 || id > kAlgorithms) return CUBLAS_STATUS_INVALID_VALUE;
  Fields fields{};
  fields[CUBLASLT_ALGO_CONFIG_ID] = static_cast<std::uint32_t>(id);
  fields[CUBLASLT_ALGO_CONFIG_SPLITK_NUM] = 1;
  *algorithm = algorithm_of(fields);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t, cublasLtMatmulDesc_t product, cublasLtMatrixLayout_t a,
                                       cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                       const cublasLtMatmulAlgo_t* algorithm, cublasLtMatmulHeuristicResult_t* result) {
  SACCADE_BEGIN(cublasLtMatmulAlgoCheck);
  if (const auto sense = look_at(*product, *a, *b, *c, *d); sense != CUBLAS_STATUS_SUCCESS) return sense;
  return look_at(fields_of(*algorithm), *a, *b, *c, *d, *result);
}

cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(const cublasLtMatmulAlgo_t* algorithm,
                                                    cublasLtMatmulAlgoConfigAttributes_t attribute, void* value,
                                                    std::size_t bytes, std::size_t* written) {
  SACCADE_BEGIN(cublasLtMatmulAlgoConfigGetAttribute);
  if (attribute < 0 || attribute >= kFields || bytes != bytes_of(attribute)) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(value, &fields_of(*algorithm)[static_cast<std::size_t>(attribute)], bytes);
  *written = bytes;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoConfigSetAttribute(cublasLtMatmulAlgo_t* algorithm,
                                                    cublasLtMatmulAlgoConfigAttributes_t attribute, const void* value,
                                                    std::size_t bytes) {
  SACCADE_BEGIN(cublasLtMatmulAlgoConfigSetAttribute);
  if (attribute <= CUBLASLT_ALGO_CONFIG_ID || attribute >= kFields || bytes != bytes_of(attribute))
    return CUBLAS_STATUS_INVALID_VALUE;
  Fields fields = fields_of(*algorithm);
  std::memcpy(&fields[static_cast<std::size_t>(attribute)], value, bytes);
  *algorithm = algorithm_of(fields);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t product, const void* alpha, const void* a,
                              cublasLtMatrixLayout_t a_layout, const void* b, cublasLtMatrixLayout_t b_layout,
                              const void* beta, const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t* algorithm, void* workspace,
                              std::size_t workspace_bytes, CUstream stream) {
  SACCADE_BEGIN(cublasLtMatmul);
  cublasLtMatmulHeuristicResult_t result{};
  const auto can =
      cublasLtMatmulAlgoCheck(nullptr, product, a_layout, b_layout, c_layout, d_layout, algorithm, &result);
  if (can != CUBLAS_STATUS_SUCCESS) return can;
  if (result.workspaceSize > workspace_bytes) return CUBLAS_STATUS_INVALID_VALUE;
  const std::uint32_t id = fields_of(*algorithm)[CUBLASLT_ALGO_CONFIG_ID];
  if (!are_loaded(id, d_layout->type, stream)) return CUBLAS_STATUS_EXECUTION_FAILED;
  const bool tf32 = product->compute == CUBLAS_COMPUTE_32F_FAST_TF32;
  const CUresult queued = enqueue({.operation = *product,
                                   .a = *a_layout,
                                   .b = *b_layout,
                                   .c = *c_layout,
                                   .d = *d_layout,
                                   .a_data = a,
                                   .b_data = b,
                                   .c_data = c,
                                   .d_data = d,
                                   .alpha = *static_cast<const float*>(alpha),
                                   .beta = *static_cast<const float*>(beta),
                                   .workspace = workspace,
                                   .workspace_bytes = result.workspaceSize,
                                   .alignment = id == 4 ? 16 : 1,
                                   .name = "algorithm " + std::to_string(id) + (tf32 ? " tf32" : "")},
                                  stream);
  return queued == CUDA_SUCCESS ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // namespace saccade::cuda
