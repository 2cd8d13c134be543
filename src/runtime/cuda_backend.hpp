#pragma once

#include <chrono>
#include <vector>

#include "runtime/tactic.hpp"

namespace saccade {

/// Bytes a second.
struct GpuBandwidth {
  double read = 0;
  double write = 0;
  double copy = 0;  ///< bytes read plus bytes written
};

/// How long it takes the host to have so many bytes of its pinned memory copied, waiting included.
struct GpuCopy {
  std::size_t bytes = 0;
  std::chrono::duration<double> upload{};
  std::chrono::duration<double> download{};
};

/// What nothing on a GPU can exceed, as kernels like ours measured it. Operations a second; a multiply-add counts 2.
struct GpuRates {
  std::string device;
  int multiprocessors = 0;
  std::size_t l2_bytes = 0;
  GpuBandwidth l2;
  GpuBandwidth memory;
  double fp16 = 0;  ///< a warp's GEMM
  double bf16 = 0;
  double tf32 = 0;
  double int8 = 0;
  double warpgroup_fp16 = 0;  ///< a warpgroup's; 0: the GPU has no such instructions
  double warpgroup_bf16 = 0;
  double fp32 = 0;                                         ///< threads' multiply-adds
  std::chrono::duration<double> launch{};                  ///< what one more kernel adds to a graph
  std::chrono::duration<double> launch_without_overlap{};  ///< where it starts when its predecessor has ended
  std::chrono::duration<double> run{};                     ///< launching a graph and waiting for it
  std::vector<GpuCopy> copies;
};

/// How much work a measurement is.
struct GpuRateOptions {
  std::size_t memory_bytes = std::size_t{1} << 30;  ///< of each of two buffers
  int l2_loops = 100;
  int compute_loops = 4096;
  int windows = 20;
};

/// What the cuda module offers; get it with module<CudaModule>("cuda").
struct CudaModule {
  const Backend& (*backend)(int ordinal, bool fallback, bool graph);
  GpuRates (*rates)(int ordinal, const GpuRateOptions& options);
};

struct CudaOptions {
  int ordinal = 0;        ///< among the GPUs that are visible
  bool fallback = false;  ///< what has no kernel may run on the host
  bool graph = true;      ///< a run is one captured graph
};

/// The CUDA backend; opens its module, the driver and the GPU at the first call. Throws Error (kDevice).
const Backend& cuda_backend(const CudaOptions& options);

/// Measures a GPU. Throws Error (kDevice).
GpuRates measure_gpu(int ordinal, const GpuRateOptions& options = {});

}  // namespace saccade
