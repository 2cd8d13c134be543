#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cuda/libraries/cublaslt.hpp"
#include "saccade/tensor.hpp"

// A product of matrices as cuBLASLt is asked for it, apart from graphs.
namespace saccade::cuda {

/// Batches of output [m, n] = alpha * left [m, k] * right [k, n] + bias [n] + residual [m, n], of one type and added up
/// in float32. Rows are PITCH elements apart, matrices of a batch STRIDE.
struct LibraryProduct {
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
  bool relu = false;  ///< of the sum of all
};

/// One way of cuBLASLt's to work out a product.
struct LibraryAlgorithm {
  cublasLtMatmulAlgo_t data{};
  std::size_t workspace = 0;  ///< bytes, kWorkspaceAlignment aligned

  /// "algorithm 66 tile 20 stages 36 splits 1 ...": the numbers are cuBLASLt's.
  std::string to_string() const;
};
inline constexpr std::size_t kWorkspaceAlignment = 256;

/// Where a product's matrices lie; null where it has none.
struct LibraryOperands {
  const void* left = nullptr;
  const void* right = nullptr;
  const void* residual = nullptr;
  void* output = nullptr;
  void* workspace = nullptr;
};

/// cuBLASLt's description of a product, on a GPU whose handle it is. One thread at a time.
class CublasLtProduct {
 public:
  /// BIAS is device memory; null where there is none, or nothing is run.
  CublasLtProduct(cublasLtHandle_t handle, const LibraryProduct& product, const void* bias);

  /// At most COUNT, what it takes for the fastest first. They add up in float32 and want 32 MiB of workspace at most.
  std::vector<LibraryAlgorithm> algorithms(int count) const;
  /// That of which to_string() wrote TEXT; nothing where this cuBLASLt, or the device, has none such.
  std::optional<LibraryAlgorithm> algorithm(std::string_view text) const;

  /// Puts the product in the queue. Throws Error (kDevice).
  void run(const LibraryAlgorithm& algorithm, const LibraryOperands& operands, CUstream stream) const;

 private:
  cublasComputeType_t compute() const;
  CublasLtLayout layout(const LibraryProduct::Matrix& matrix, std::int64_t rows, std::int64_t columns) const;

  cublasLtHandle_t handle_;
  LibraryProduct product_;
  CublasLtOperation operation_;
  CublasLtLayout left_, right_, residual_, output_;
};

/// Works PRODUCT out once, in memory of its own, and waits: what cuBLASLt loads when an algorithm is first used may not
/// be loadable while a graph is captured. Throws Error (kDevice) where the algorithm does not run.
void warm_up(cublasLtHandle_t handle, const LibraryProduct& product, const LibraryAlgorithm& algorithm);

}  // namespace saccade::cuda
