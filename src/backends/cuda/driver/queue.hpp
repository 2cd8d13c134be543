#pragma once

#include <exception>
#include <vector>

#include "cuda/driver/faults.hpp"
#include "cuda/driver/transfer.hpp"
#include "runtime/tactic.hpp"
#include "tensor/frame.hpp"

namespace saccade::cuda {

/// A bound launch that reads the frame. A captured graph replays what run() put in the queue alone; how a frame lies is
/// told its kernels by a block of numbers, which comes to the device with the frame.
class FrameReader {
 public:
  virtual ~FrameReader() = default;
  /// Before every run: writes down, in pinned memory, how to read the frame, which lies ON_DEVICE. Throws Error; the
  /// run ends there.
  virtual void describe(const FrameView& on_device) = 0;
  /// From what describe() writes to where its kernels expect it.
  virtual Copy description() const = 0;
};

/// What Bindings::queue points to: the stream of one execution, and what went wrong in work that it does on the host
/// and in kernels.
struct Queue {
  Stream stream;
  std::exception_ptr failure;         ///< of the run under way; the first one counts
  Faults faults;                      ///< of its kernels
  std::vector<FrameReader*> readers;  ///< launches of the execution
};

inline Queue& queue_of(const Bindings& bindings) { return *static_cast<Queue*>(bindings.queue); }

}  // namespace saccade::cuda
