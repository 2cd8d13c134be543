#include "media/orient.hpp"

#include <cstddef>
#include <cstring>

#include "base/error.hpp"

namespace saccade {
namespace {

template <int kBytes>
void copy_stepping(const std::uint8_t* src, std::ptrdiff_t step_x, std::ptrdiff_t step_y, int width, int height,
                   Samples dst) {
  for (int y = 0; y < height; ++y) {
    const std::uint8_t* from = src + y * step_y;
    std::uint8_t* to = dst.data + static_cast<std::ptrdiff_t>(y) * dst.pitch_bytes;
    for (int x = 0; x < width; ++x, from += step_x, to += kBytes) std::memcpy(to, from, kBytes);
  }
}

}  // namespace

void copy_upright(const std::uint8_t* src, int src_pitch, int width, int height, int sample_bytes, int orientation,
                  Samples dst) {
  // Upright pixel (x, y) is stored at origin + x * step_x + y * step_y.
  const std::ptrdiff_t across = sample_bytes;
  const std::ptrdiff_t down = src_pitch;
  const bool from_right = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const bool from_bottom = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  const std::uint8_t* origin = src + (from_right ? (width - 1) * across : 0) + (from_bottom ? (height - 1) * down : 0);
  std::ptrdiff_t step_x = from_right ? -across : across;
  std::ptrdiff_t step_y = from_bottom ? -down : down;
  if (swaps_sides(orientation)) {
    std::swap(step_x, step_y);
    std::swap(width, height);
  }
  switch (sample_bytes) {
    case 1: return copy_stepping<1>(origin, step_x, step_y, width, height, dst);
    case 2: return copy_stepping<2>(origin, step_x, step_y, width, height, dst);
    case 3: return copy_stepping<3>(origin, step_x, step_y, width, height, dst);
    default: SACCADE_ASSERT(sample_bytes <= 3);
  }
}

}  // namespace saccade
