#pragma once

#include <vector>

#include "cuda/driver/queue.hpp"
#include "cuda/driver/transfer.hpp"
#include "tensor/frame.hpp"

namespace saccade::cuda {

/// The launches that read a frame, by frame.
using FrameReaders = std::vector<std::vector<FrameReader*>>;

/// READERS in groups, by their frame among FRAMES.
FrameReaders by_frame(std::span<FrameReader* const> readers, std::span<const FrameView> frames);

/// Copies graph inputs, the frames, and their readers' parameter blocks to the device at the start of a run, with one
/// kernel. Frames may have any size, format and address without recapturing the graph: pinned frames are read in place,
/// others are staged in pinned memory. Those that lie on the device stay where they are.
class Upload {
 public:
  /// INPUTS are the same in every run. READERS outlive it. Throws Error.
  Upload(Device& device, const std::vector<Copy>& inputs, FrameReaders readers);

  /// Before every run, when the previous one is complete. FRAMES are as many as READERS. Throws Error (kUnsupported)
  /// for a frame that neither the host nor DEVICE can read, and what a reader throws.
  void prepare(std::span<const FrameView> frames);
  /// From the next run on, input number I comes from FROM, in memory that the device reads.
  void read_input(std::size_t i, CUdeviceptr from) { transfer_.copies()[i].from = from; }
  /// Before every run, and not as a part of a captured graph: makes STREAM wait for those frames of the last prepare()
  /// that lie on the device. Throws Error (kDevice).
  void await_frames(CUstream stream) const;
  /// The reader that did not accept its frame when prepare() threw; null if no reader threw.
  const FrameReader* refused_by() const { return refused_by_; }
  void enqueue(CUstream stream) { transfer_.enqueue(stream); }

 private:
  /// A frame's pixels on the device.
  struct Pixels {
    std::span<Copy> planes;
    DeviceMemory memory;
    PinnedMemory staging;
    std::size_t staged_bytes = 0;
    CUevent ready = nullptr;  ///< FrameView::ready

    FrameView place(const FrameView& frame, int device);
    void grow(std::size_t bytes, bool staged);
  };

  Device& device_;
  FrameReaders readers_;
  Transfer transfer_;
  std::vector<Pixels> pixels_;  ///< by frame
  const FrameReader* refused_by_ = nullptr;
};

/// Pinned memory for frames that DEVICE reads; lives as long as the process.
FrameMemory& pinned_frame_memory(Device& device);

}  // namespace saccade::cuda
