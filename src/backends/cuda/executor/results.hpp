#pragma once

#include <array>
#include <vector>

#include "cuda/driver/transfer.hpp"

namespace saccade::cuda {

/// What comes back at the end of a run, by one kernel. There are two places for it, so that the next run may begin
/// while the host reads the last one's.
class Results {
 public:
  /// OUTPUTS say what lies where on the device; their TO is an offset of the place, 256-byte aligned. Throws Error.
  Results(Device& device, const std::vector<Copy>& outputs);

  /// Before every run: it writes where show() does not read.
  void prepare();
  void enqueue(CUstream stream) { transfer_.enqueue(stream); }
  /// The run is done: at() is what it wrote.
  void show() { shown_ = written_; }
  /// In what the run that was shown last wrote.
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
