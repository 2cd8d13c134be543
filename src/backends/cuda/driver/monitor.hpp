#pragma once

#include <memory>

#include "runtime/cuda_backend.hpp"

namespace saccade::cuda {

/// See monitor_gpu().
std::unique_ptr<GpuMonitor> monitor(int ordinal);

}  // namespace saccade::cuda
