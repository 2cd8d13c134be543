#pragma once

#include <vector>

#include "cuda/driver/queue.hpp"
#include "cuda/driver/transfer.hpp"
#include "tensor/frame.hpp"

namespace saccade::cuda {

/// Copies graph inputs, the frame, and its readers' parameter blocks to the device at the start of a run, with one
/// kernel. Frames may have any size, format and address without recapturing the graph: pinned frames are read in place,
/// others are staged in pinned memory. Those that lie on the device stay where they are.
class Upload {
 public:
  /// INPUTS are the same in every run. READERS outlive it; without readers there is no frame. Throws Error.
  Upload(Device& device, std::vector<Copy> inputs, std::vector<FrameReader*> readers);

  /// Before every run, when the previous one is complete. Throws Error (kUnsupported) for a frame that neither the host
  /// nor DEVICE can read, and what a reader throws.
  void prepare(const FrameView& frame);
  /// Before every run, and not as a part of a captured graph: makes STREAM wait for the frame of the last prepare(), if
  /// that lies on the device. Throws Error (kDevice).
  void await_frame(CUstream stream) const;
  /// The number of readers that accepted the last frame: the index of the one that threw.
  std::size_t described() const { return described_; }
  void enqueue(CUstream stream) { transfer_.enqueue(stream); }

 private:
  FrameView place(const FrameView& frame);
  void grow(std::size_t bytes, bool staged);

  Device& device_;
  std::vector<FrameReader*> readers_;
  Transfer transfer_;
  std::span<Copy> planes_;
  DeviceMemory pixels_;
  PinnedMemory staging_;
  std::size_t staged_bytes_ = 0;
  std::size_t described_ = 0;
  CUevent ready_ = nullptr;  ///< FrameView::ready
};

/// Pinned memory for frames that DEVICE reads; lives as long as the process.
FrameMemory& pinned_frame_memory(Device& device);

}  // namespace saccade::cuda
