#include "measure/noise_frame.hpp"

#include <random>

namespace saccade {

NoiseFrame::NoiseFrame(const FrameSize& size, std::uint64_t seed)
    : pixels_(DType::kUInt8, {static_cast<std::int64_t>(frame_bytes(size.format, size.width, size.height))}) {
  std::mt19937_64 generator(seed);
  for (std::uint8_t& pixel : pixels_.data<std::uint8_t>()) pixel = static_cast<std::uint8_t>(generator() >> 56U);
  view_ = lay_out({.data = pixels_.raw(), .capacity = pixels_.bytes()}, size.format, size.width, size.height);
}

}  // namespace saccade
