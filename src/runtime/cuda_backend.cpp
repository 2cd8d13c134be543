#include "runtime/cuda_backend.hpp"

#include <dlfcn.h>

#include "base/module.hpp"

namespace saccade {

const Backend& cuda_backend(const CudaOptions& options) {
  return module<CudaModule>("cuda").backend(options.ordinal, options.fallback, options.graph);
}

bool has_cuda_driver() noexcept {
  // It stays open: the module opens it, too.
  static const bool is_there = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL) != nullptr;
  return is_there;
}

void check_cuda_compiler() { module<CudaModule>("cuda").check_compiler(); }

GpuRates measure_gpu(int ordinal, const GpuRateOptions& options) {
  return module<CudaModule>("cuda").rates(ordinal, options);
}

std::unique_ptr<GpuMonitor> monitor_gpu(int ordinal) { return module<CudaModule>("cuda").monitor(ordinal); }

std::unique_ptr<SharedGpuMemory> open_gpu_memory(int ordinal, GpuMemoryHandle handle) {
  return module<CudaModule>("cuda").open_memory(ordinal, handle);
}

}  // namespace saccade
