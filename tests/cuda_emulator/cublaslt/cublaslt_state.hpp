#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "cuda/libraries/cublaslt_api.hpp"

// Objects behind the emulated cuBLASLt's handles. Matrices are column-major.
namespace saccade::cuda {

struct cublasLtContext {};

struct cublasLtMatmulDescOpaque {
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  std::int32_t turn_a = CUBLAS_OP_N;
  std::int32_t turn_b = CUBLAS_OP_N;
  std::uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
};

struct cublasLtMatrixLayoutOpaque {
  cudaDataType_t type = CUDA_R_32F;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t pitch = 0;
  std::int32_t batches = 1;
  std::int64_t stride = 0;

  std::int64_t element_bytes() const { return type == CUDA_R_32F ? 4 : 2; }
  /// Extent in memory, in elements.
  std::int64_t elements() const { return (batches - 1) * stride + (columns - 1) * pitch + rows; }
};

struct cublasLtMatmulPreferenceOpaque {
  std::uint64_t workspace = 0;
  std::uint32_t reductions = 7;
  std::map<int, std::uint32_t> alignments;  // by attribute
};

}  // namespace saccade::cuda

namespace saccade::emulator {

using namespace cuda;

/// The GEMM of one call.
struct LibraryWork {
  cublasLtMatmulDescOpaque operation;
  cublasLtMatrixLayoutOpaque a, b, c, d;
  const void* a_data = nullptr;
  const void* b_data = nullptr;
  const void* c_data = nullptr;
  void* d_data = nullptr;
  float alpha = 1;
  float beta = 0;
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
  std::int64_t alignment = 1;  ///< minimum over all matrices, in bytes
  std::string name;            ///< for emulator_kernels()
};

/// An entry point of the emulated driver.
void* driver_symbol(const char* name);

/// Enqueues WORK, which is valid, on STREAM.
CUresult enqueue(LibraryWork work, CUstream stream);

}  // namespace saccade::emulator
