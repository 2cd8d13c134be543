#pragma once

#include "measure/limits/work.hpp"
#include "tensor/frame.hpp"

namespace saccade {

/// A frame of noise and its memory, deterministic by seed.
class NoiseFrame {
 public:
  NoiseFrame(const FrameSize& size, std::uint64_t seed);
  const FrameView& view() const { return view_; }

 private:
  Tensor pixels_;
  FrameView view_;
};

}  // namespace saccade
