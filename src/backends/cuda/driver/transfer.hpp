#pragma once

#include <span>

#include "cuda/driver/device.hpp"
#include "cuda/driver/handles.hpp"

namespace saccade::cuda {

/// Bytes that go between pinned memory of the host and the device, in words as kernels/transfer.cuh reads them.
struct alignas(64) Copy {
  CUdeviceptr from = 0;
  CUdeviceptr to = 0;
  std::int64_t bytes = 0;
  CUdeviceptr count = 0;       ///< an int32 or int64 on the device: how many rows are there; 0: all are copied
  std::int64_t row_bytes = 0;  ///< a row's, where there is a COUNT
};

/// Several copies by one kernel, which can stand in a captured graph: what it copies is read when it runs, so it may
/// differ from run to run.
class Transfer {
 public:
  /// So many copies; BYTES is about what all of them move. Throws Error.
  Transfer(Device& device, std::size_t copies, std::size_t bytes);

  /// What the next run copies; one of no bytes does nothing. Not to be changed while a run is under way.
  std::span<Copy> copies() { return {static_cast<Copy*>(list_.get()), count_}; }
  /// Puts the kernel in the queue; nothing where there are no copies.
  void enqueue(CUstream stream);

 private:
  CUfunction function_ = nullptr;
  std::size_t count_;
  unsigned blocks_ = 1;  ///< a copy
  PinnedMemory list_;
};

/// What all transfers run; compiled at the first call for a device. Throws Error.
const Kernel& transfer_kernel(Device& device);
/// Adds its machine code: without it no run gets its inputs.
void collect_transfer_image(Device& device, KernelImages& images);

}  // namespace saccade::cuda
