#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cuda/libraries/cublaslt.hpp"
#include "saccade/tensor.hpp"

// A GEMM as cuBLASLt describes it, independent of graphs.
namespace saccade::cuda {

/// Batched output [m, n] = alpha * left [m, k] * right [k, n] + bias [n] + residual [m, n], of one type, accumulated in
/// float32. PITCH is the leading dimension, STRIDE the batch stride, in elements.
struct LibraryGemm {
  struct Matrix {
    std::int64_t pitch = 0;
    std::int64_t stride = 0;
    std::uint32_t alignment = 256;  ///< of its first element, in bytes
  };
  DType dtype = DType::kFloat16;  ///< float32, float16 or bfloat16
  bool tf32 = false;              ///< float32 may be rounded to tf32
  float alpha = 1;
  int batches = 1;
  std::int64_t m = 1;
  std::int64_t n = 1;
  std::int64_t k = 1;
  Matrix left, right, output;
  std::optional<Matrix> residual;
  bool transposed = false;  ///< the right operand is [n, k]
  bool bias = false;
  bool relu = false;  ///< applied last
};

/// An algorithm of cuBLASLt.
struct LibraryAlgorithm {
  cublasLtMatmulAlgo_t data{};
  std::size_t workspace = 0;  ///< bytes, kWorkspaceAlignment aligned

  /// "algorithm 66 tile 20 stages 36 splits 1 ...", by cuBLASLt's numbering.
  std::string to_string() const;
};
inline constexpr std::size_t kWorkspaceAlignment = 256;

/// Addresses of a GEMM's operands; null if absent.
struct LibraryOperands {
  const void* left = nullptr;
  const void* right = nullptr;
  const void* residual = nullptr;
  void* output = nullptr;
  void* workspace = nullptr;
};

/// cuBLASLt's descriptors of a GEMM for one GPU. One thread at a time.
class CublasLtGemm {
 public:
  /// BIAS is device memory; null if there is none or nothing will be run.
  CublasLtGemm(cublasLtHandle_t handle, const LibraryGemm& gemm, const void* bias);

  /// At most COUNT algorithms in order of cuBLASLt's heuristic, accumulating in float32, with at most 32 MiB of
  /// workspace.
  std::vector<LibraryAlgorithm> algorithms(int count) const;
  /// The algorithm described by TEXT, as to_string() writes it; nothing if this cuBLASLt or the device lacks it.
  std::optional<LibraryAlgorithm> algorithm(std::string_view text) const;

  /// Enqueues the GEMM on STREAM. Throws Error (kDevice).
  void run(const LibraryAlgorithm& algorithm, const LibraryOperands& operands, CUstream stream) const;

 private:
  cublasComputeType_t compute() const;
  CublasLtLayout layout(const LibraryGemm::Matrix& matrix, std::int64_t rows, std::int64_t columns) const;

  cublasLtHandle_t handle_;
  LibraryGemm gemm_;
  CublasLtOperation operation_;
  CublasLtLayout left_, right_, residual_, output_;
};

/// Runs the GEMM once in memory of its own and waits: cuBLASLt loads kernels lazily, which may not be possible during
/// capture. Throws Error (kDevice) if the algorithm does not run.
void warm_up(cublasLtHandle_t handle, const LibraryGemm& gemm, const LibraryAlgorithm& algorithm);

}  // namespace saccade::cuda
