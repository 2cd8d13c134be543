#include "measure/limits/noise_frame.hpp"

#include <random>

#include "base/error.hpp"
#include "base/memory_budget.hpp"

namespace saccade {

namespace {

/// Checked before anything is allocated. Throws Error (kUnsupported).
std::int64_t bytes_that_fit(const FrameSize& size) {
  const std::size_t bytes = frame_bytes(size.format, size.width, size.height);
  // Running a model on the frame makes a copy of it.
  if (const std::size_t most = default_memory_limit() / 2; bytes > most)
    fail(ErrorCode::kUnsupported, "a frame of {}x{} needs {}, more than the limit of {}", size.width, size.height,
         readable_bytes(bytes), readable_bytes(most));
  return static_cast<std::int64_t>(bytes);
}

}  // namespace

NoiseFrame::NoiseFrame(const FrameSize& size, std::uint64_t seed) : pixels_(DType::kUInt8, {bytes_that_fit(size)}) {
  std::mt19937_64 generator(seed);
  for (std::uint8_t& pixel : pixels_.data<std::uint8_t>()) pixel = static_cast<std::uint8_t>(generator() >> 56U);
  view_ = lay_out({.data = pixels_.raw(), .capacity = pixels_.bytes()}, size.format, size.width, size.height);
}

}  // namespace saccade
