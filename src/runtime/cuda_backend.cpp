#include "runtime/cuda_backend.hpp"

#include "base/module.hpp"

namespace saccade {

const Backend& cuda_backend(const CudaOptions& options) {
  return module<CudaModule>("cuda").backend(options.ordinal, options.fallback, options.graph);
}

GpuRates measure_gpu(int ordinal, const GpuRateOptions& options) {
  return module<CudaModule>("cuda").rates(ordinal, options);
}

}  // namespace saccade
