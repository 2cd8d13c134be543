#pragma once

#include <vector>

#include "cuda/driver/queue.hpp"
#include "cuda/driver/transfer.hpp"
#include "tensor/frame.hpp"

namespace saccade::cuda {

/// What goes to the device at the beginning of a run, by one kernel: graph inputs, and the frame with what its readers
/// say of it. A frame may have any size, format and address, and no graph is ever captured anew: pinned frames are read
/// where they lie, others pass through pinned memory.
class Upload {
 public:
  /// INPUTS are the same in every run. READERS outlive it; without any there is no frame. Throws Error.
  Upload(Device& device, std::vector<Copy> inputs, std::vector<FrameReader*> readers);

  /// Before every run, when the one before it is done. Throws Error (kUnsupported) on a frame that the host can't read,
  /// and what a reader throws.
  void prepare(const FrameView& frame);
  void enqueue(CUstream stream) { transfer_.enqueue(stream); }

 private:
  FrameView place(const FrameView& frame);
  void grow(std::size_t bytes, bool staged);

  std::vector<FrameReader*> readers_;
  Transfer transfer_;
  std::span<Copy> planes_;
  DeviceMemory pixels_;
  PinnedMemory staging_;
  std::size_t staged_bytes_ = 0;
};

/// Page-locked memory for frames that DEVICE reads; lives as long as the process.
FrameMemory& pinned_frame_memory(Device& device);

}  // namespace saccade::cuda
