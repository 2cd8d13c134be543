#pragma once

// What every kernel begins with.

/// Waits until the kernels before this one are done and their writes are seen, then lets the next one start: it waits
/// in turn before it reads what this one writes. Before it, a kernel touches nothing but constants (weights, tables).
__device__ __forceinline__ void pdl_wait_and_trigger() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
