#pragma once

#include "runtime/tactic.hpp"

namespace saccade {

/// What the cuda module offers; get it with module<CudaModule>("cuda").
struct CudaModule {
  const Backend& (*backend)(int ordinal, bool fallback, bool graph);
};

struct CudaOptions {
  int ordinal = 0;        ///< among the GPUs that are visible
  bool fallback = false;  ///< what has no kernel may run on the host
  bool graph = true;      ///< a run is one captured graph
};

/// The CUDA backend; opens its module, the driver and the GPU at the first call. Throws Error (kDevice).
const Backend& cuda_backend(const CudaOptions& options);

}  // namespace saccade
