#pragma once

#include <array>
#include <cstdint>

#include "tensor/frame.hpp"

namespace saccade {

/// Any frame as RGB24 of the same size, by its matrix and range (ITU-R BT.601, 709 and 2020, rounded to nearest).
/// Chroma is replicated to all pixels that share a sample, as in OpenCV's video reader.
void to_rgb(const FrameView& src, const RgbView& dst);

/// Borrowed writable planes Y, U, V. WIDTH and HEIGHT are even.
struct I420View {
  std::array<std::uint8_t*, 3> planes{};
  std::array<int, 3> pitch_bytes{};
  int width = 0;
  int height = 0;
};

/// A kRgb24 frame as I420, BT.601, limited range; a chroma sample is the mean of its four pixels. DST may be up to one
/// pixel wider and higher: the last column and row are repeated.
void to_i420(const FrameView& rgb, const I420View& dst);

}  // namespace saccade
