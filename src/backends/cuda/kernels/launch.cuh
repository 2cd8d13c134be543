#pragma once

// The prologue of every kernel.

// The headers that the host reads as well (*.hpp) are in this namespace.
namespace saccade::cuda {}
using namespace saccade::cuda;

/// Programmatic dependent launch: griddepcontrol.wait until the preceding grids have completed and their writes are
/// visible, then launch_dependents. The dependent grid waits in turn before it reads what this one writes. Before this
/// call a kernel may read constants (weights, tables) only.
__device__ __forceinline__ void pdl_wait_and_trigger() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
