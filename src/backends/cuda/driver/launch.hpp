#pragma once

#include "cuda/driver/handles.hpp"
#include "cuda/driver/kernel_launch.hpp"

namespace saccade::cuda {

/// Launches a kernel on STREAM. With OVERLAPS it may start while its predecessor drains (programmatic stream
/// serialization, kernels/launch.cuh); otherwise it waits for it.
inline void launch(CUfunction function, const Grid& grid, void** arguments, CUstream stream, bool overlaps = true) {
  CUlaunchAttribute overlap{};
  overlap.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  overlap.value.programmaticStreamSerializationAllowed = 1;
  const CUlaunchConfig config{.gridDimX = grid.blocks[0],
                              .gridDimY = grid.blocks[1],
                              .gridDimZ = grid.blocks[2],
                              .blockDimX = grid.threads[0],
                              .blockDimY = grid.threads[1],
                              .blockDimZ = grid.threads[2],
                              .sharedMemBytes = grid.shared_bytes,
                              .hStream = stream,
                              .attrs = &overlap,
                              .numAttrs = overlaps ? 1U : 0U};
  SACCADE_CUDA(cuLaunchKernelEx(&config, function, arguments, nullptr));
}

}  // namespace saccade::cuda
