#pragma once

#include <array>
#include <vector>

#include "cuda/driver/transfer.hpp"

namespace saccade::cuda {

/// Copies the outputs of a run to pinned memory, with one kernel. Double-buffered, so that the next run may start while
/// the host reads the results of the last one.
class Download {
 public:
  /// OUTPUTS: device memory of each output; TO is its offset in a buffer, 256-byte aligned. Throws Error.
  Download(Device& device, const std::vector<Copy>& outputs);

  /// Before every run: selects the buffer that is not shown.
  void prepare();
  /// After prepare(): the next run does not copy output number I.
  void skip(std::size_t i) { transfer_.copies()[i] = {}; }
  void enqueue(CUstream stream) { transfer_.enqueue(stream); }
  /// When the run is complete: at() refers to its results.
  void show() { shown_ = written_; }
  /// Address in the buffer that is shown.
  std::byte* at(std::size_t offset) const { return static_cast<std::byte*>(places_[shown_].get()) + offset; }
  void poison();

 private:
  std::vector<Copy> outputs_;
  std::size_t bytes_;
  Transfer transfer_;
  std::array<PinnedMemory, 2> places_;
  std::size_t shown_ = 0;
  std::size_t written_ = 0;
};

}  // namespace saccade::cuda
