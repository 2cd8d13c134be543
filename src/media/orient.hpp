#pragma once

#include <cstdint>

namespace saccade {

/// EXIF orientations of stored pixels: 1 upright, 2 mirrored, 3 rotated by 180 degrees, 4 flipped, 5 transposed, 6 to
/// be rotated clockwise by 90 degrees, 7 transverse, 8 to be rotated anticlockwise by 90 degrees.
constexpr bool swaps_sides(int orientation) { return orientation >= 5; }

/// Rows of samples of a fixed size in bytes.
struct Samples {
  std::uint8_t* data = nullptr;
  int pitch_bytes = 0;
};

/// Copies a plane of WIDTH x HEIGHT stored samples upright into DST, whose sides are swapped for orientations 5 to 8.
/// SAMPLE_BYTES is 1, 2 or 3.
void copy_upright(const std::uint8_t* src, int src_pitch, int width, int height, int sample_bytes, int orientation,
                  Samples dst);

}  // namespace saccade
