#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "runtime/tactic.hpp"

namespace saccade {

/// Bytes per second.
struct GpuBandwidth {
  double read = 0;
  double write = 0;
  double copy = 0;  ///< bytes read plus bytes written
};

/// Time of a copy between pinned host memory and the device, including the wait.
struct GpuCopy {
  std::size_t bytes = 0;
  std::chrono::duration<double> upload{};
  std::chrono::duration<double> download{};
};

/// Ceilings of a GPU, measured by kernels. Operations per second; a multiply-add counts as 2.
struct GpuRates {
  std::string device;
  int multiprocessors = 0;
  std::size_t l2_bytes = 0;
  GpuBandwidth l2;
  GpuBandwidth memory;
  double fp16 = 0;  ///< warp-level GEMM (mma)
  double bf16 = 0;
  double tf32 = 0;
  double int8 = 0;
  double warpgroup_fp16 = 0;  ///< warpgroup-level GEMM (wgmma); 0: not supported
  double warpgroup_bf16 = 0;
  double fp32 = 0;                                         ///< multiply-adds outside of tensor cores
  std::chrono::duration<double> launch{};                  ///< cost of one more kernel in a graph
  std::chrono::duration<double> launch_without_overlap{};  ///< without programmatic launch
  std::chrono::duration<double> run{};                     ///< launch of a graph and the wait for it
  std::vector<GpuCopy> copies;
};

/// The amount of work of a measurement.
struct GpuRateOptions {
  std::size_t memory_bytes = std::size_t{1} << 30;  ///< of each of two buffers
  int l2_loops = 100;
  int compute_loops = 4096;
  int windows = 20;
};

/// What a GPU does now. A number is missing where NVIDIA's management library (NVML) does not tell it: the library is
/// not installed, or the GPU does not support the query, as a part of a GPU (MIG) does not tell its use.
struct GpuState {
  std::optional<double> use;                 ///< share of NVML's last sample period, up to 1 s, in which a kernel ran
  std::optional<std::int64_t> memory_bytes;  ///< used by all processes
  std::optional<double> watts;               ///< of the whole board
};

/// Watches a GPU.
class GpuMonitor {
 public:
  virtual ~GpuMonitor() = default;
  /// Takes 0.1 ms on an H200. Any thread.
  virtual GpuState read() const noexcept = 0;
};

/// Memory of a GPU that belongs to another process, which has exported it (cuIpcGetMemHandle). Any thread.
class SharedGpuMemory {
 public:
  virtual ~SharedGpuMemory() = default;
  /// On the device.
  virtual std::byte* address() const = 0;
  virtual std::size_t bytes() const = 0;
  /// Copies what is at OFFSET to TO, which is complete on return. Throws Error (kDevice).
  virtual void read(std::size_t offset, std::span<std::byte> to) const = 0;
  /// Copies FROM to OFFSET, complete on return. Throws Error (kDevice).
  virtual void write(std::size_t offset, std::span<const std::byte> from) const = 0;
};

/// Size of the handle of another process's memory.
inline constexpr std::size_t kGpuMemoryHandleBytes = 64;
using GpuMemoryHandle = std::span<const std::byte, kGpuMemoryHandleBytes>;

/// The interface of the cuda module: module<CudaModule>("cuda").
struct CudaModule {
  const Backend& (*backend)(int ordinal, bool fallback, bool graph);
  GpuRates (*rates)(int ordinal, const GpuRateOptions& options);
  void (*check_compiler)();
  std::unique_ptr<GpuMonitor> (*monitor)(int ordinal);
  std::unique_ptr<SharedGpuMemory> (*open_memory)(int ordinal, GpuMemoryHandle handle);
};

struct CudaOptions {
  int ordinal = 0;        ///< among the visible GPUs
  bool fallback = false;  ///< nodes without a kernel may run on the host
  bool graph = true;      ///< one captured graph per run
};

/// Whether NVIDIA's driver is installed. Opens no GPU and takes no time where there is none. Any thread.
bool has_cuda_driver() noexcept;

/// The CUDA backend; opens its module, the driver and the GPU at the first call. Throws Error: (kNotFound) if there is
/// no driver or no such GPU, (kUnsupported) if the GPU is too old for the kernels, (kDevice) if it cannot be opened.
const Backend& cuda_backend(const CudaOptions& options);

/// Throws Error (kDevice), saying what to install, if kernels cannot be compiled.
void check_cuda_compiler();

/// Measures a GPU. Throws Error (kDevice).
GpuRates measure_gpu(int ordinal, const GpuRateOptions& options = {});

/// Watches the GPU with that ORDINAL among the visible ones. The first call takes some 20 ms, in which NVML starts. If
/// it can't, the log says why. Throws Error if the GPU cannot be opened.
std::unique_ptr<GpuMonitor> monitor_gpu(int ordinal);

/// The memory of HANDLE, for the GPU with that ORDINAL. Its owner keeps it until this has ended: what the driver does
/// otherwise is undefined. Throws Error (kInvalidArgument) if the driver does not accept the handle, and as
/// cuda_backend() does.
std::unique_ptr<SharedGpuMemory> open_gpu_memory(int ordinal, GpuMemoryHandle handle);

}  // namespace saccade
