#pragma once

#include <exception>
#include <vector>

#include "cuda/driver/index_reports.hpp"
#include "cuda/driver/transfer.hpp"
#include "runtime/tactic.hpp"
#include "tensor/frame.hpp"

namespace saccade::cuda {

/// A bound launch that reads a frame. A captured graph always replays the same launches, so the frame's layout is
/// passed to kernels in a parameter block that is uploaded with the frame.
class FrameReader {
 public:
  virtual ~FrameReader() = default;
  /// The frame of the execution that it reads.
  virtual const FrameView* frame() const = 0;
  /// Before every run: writes the parameter block for the frame ON_DEVICE into pinned memory. An Error ends the run.
  virtual void describe(const FrameView& on_device) = 0;
  /// Copy of the parameter block to the device.
  virtual Copy description() const = 0;
};

/// What Bindings::queue points to: the stream of one execution, and failures of its host functions and kernels.
struct Queue {
  Stream stream;
  std::exception_ptr failure;         ///< first failure of the current run
  bool calls_host = false;            ///< whether launches of the execution run on the host
  IndexReports index_reports;         ///< of its kernels
  std::vector<FrameReader*> readers;  ///< launches of the execution
};

inline Queue& queue_of(const Bindings& bindings) { return *static_cast<Queue*>(bindings.queue); }

}  // namespace saccade::cuda
