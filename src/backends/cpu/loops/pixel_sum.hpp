#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "graph/graph.hpp"

namespace saccade::cpu {

/// The memory layout of images (N, C, H, W) before and after resampling.
struct Channels {
  Channels(const Value& src, const Value& dst);

  std::int64_t count;
  std::int64_t src_plane;  ///< pixels
  std::int64_t dst_plane;
  bool last;  ///< both are channels-last, else both row-major

  /// The offset of the channels of pixel PIXEL of image N, in elements.
  std::int64_t src_offset(std::int64_t n) const { return n * count * src_plane; }
  std::int64_t dst_offset(std::int64_t n, std::int64_t pixel) const {
    return n * count * dst_plane + pixel * (last ? count : 1);
  }
};

/// One pixel with all its channels as a weighted sum of an image's pixels, vectorised over channels if channels-last.
/// Does not allocate.
class PixelSum {
 public:
  /// IMAGE and DST are the first channels of the image and of the output pixel.
  PixelSum(const Channels& channels, const float* image, float* dst) : channels_(channels), image_(image), dst_(dst) {}

  /// Adds WEIGHT times the pixel at POSITION.
  void add(std::int64_t position, float weight) {
    if (taps_ == kMostTaps) flush();
    offsets_[taps_] = position * (channels_.last ? channels_.count : 1);
    weights_[taps_++] = weight;
  }

  /// Writes the sum, which is 0 if nothing was added.
  void finish() {
    if (taps_ > 0 || !written_) flush();
  }

 private:
  static constexpr std::size_t kMostTaps = 64;

  void flush();

  const Channels& channels_;
  const float* image_;
  float* dst_;
  std::size_t taps_ = 0;
  bool written_ = false;
  std::array<std::int64_t, kMostTaps> offsets_;
  std::array<float, kMostTaps> weights_;
};

}  // namespace saccade::cpu
