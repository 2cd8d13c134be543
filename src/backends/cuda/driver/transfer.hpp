#pragma once

#include <span>

#include "cuda/driver/device.hpp"
#include "cuda/driver/handles.hpp"
#include "cuda/kernels/memory_layouts.hpp"

namespace saccade::cuda {

/// Several copies by one kernel. It can be part of a captured graph, since it reads its list of copies at run time.
class Transfer {
 public:
  /// Capacity for COPIES copies, about BYTES in total. Throws Error.
  Transfer(Device& device, std::size_t copies, std::size_t bytes);

  /// Copies of the next run; empty ones do nothing. Not to be modified during a run.
  std::span<Copy> copies() { return {static_cast<Copy*>(list_.get()), count_}; }
  /// Launches the kernel, unless there are no copies.
  void enqueue(CUstream stream);

 private:
  CUfunction function_ = nullptr;
  std::size_t count_;
  unsigned blocks_ = 1;  ///< per copy
  PinnedMemory list_;
};

/// The kernel of all transfers; compiled at a device's first call. Throws Error.
const Kernel& transfer_kernel(Device& device);
/// Adds its cubin, which every plan needs.
void collect_transfer_image(Device& device, KernelImages& images);

}  // namespace saccade::cuda
