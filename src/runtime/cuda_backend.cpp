#include "runtime/cuda_backend.hpp"

#include "base/module.hpp"

namespace saccade {

const Backend& cuda_backend(const CudaOptions& options) {
  return module<CudaModule>("cuda").backend(options.ordinal, options.fallback, options.graph);
}

}  // namespace saccade
