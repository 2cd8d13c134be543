#pragma once

#include "measure/limits/ceilings.hpp"
#include "runtime/cuda_backend.hpp"
#include "saccade/model.hpp"

namespace saccade {

/// A GPU's rates as ceilings: its L2 cache and its memory, GEMMs computed by our kernels, the least time of a launch.
/// "One core" is one multiprocessor's share.
Ceilings ceilings_of(const GpuRates& rates);

/// Measures the device selected by OPTIONS; the CPU with THREADS (0: one per available processor). Throws Error.
Ceilings measure_ceilings(const ModelOptions& options, int threads,
                          const std::function<void(double share)>& progress = {});

}  // namespace saccade
