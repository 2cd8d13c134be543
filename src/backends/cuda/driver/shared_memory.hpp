#pragma once

#include <memory>

#include "runtime/cuda_backend.hpp"

namespace saccade::cuda {

/// See open_gpu_memory().
std::unique_ptr<SharedGpuMemory> open_memory(int ordinal, GpuMemoryHandle handle);

}  // namespace saccade::cuda
