#pragma once

#include "cuda/driver/device.hpp"
#include "runtime/cuda_backend.hpp"

namespace saccade::cuda {

/// Measures peak rates of DEVICE in about a second. Every figure is the best of several windows. Throws Error
/// (kDevice).
GpuRates measure_rates(Device& device, const GpuRateOptions& options);

}  // namespace saccade::cuda
