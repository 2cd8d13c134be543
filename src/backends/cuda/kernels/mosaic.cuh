#pragma once

#include "memory_layouts.hpp"
#include "types.cuh"

// The colours of Bayer mosaics, as tensor/mosaic.hpp defines them.

/// A row of a mosaic, of which one colour is read. It is always the mean of four samples, some of which may be the same
/// one, so that neighbouring threads do not diverge.
struct MosaicLine {
  const uint8* row;
  int32 above;  ///< bytes from the row to the one above, or to itself if it has samples of red or blue
  int32 below;
  int32 last;  ///< column
  int32 own;   ///< the first column that has samples of the colour, or has them in the other rows
  bool is_green;

  __device__ __forceinline__ int32 operator()(int32 x) const {
    const bool is_missing = ((x ^ own) & 1) != 0;
    // Samples beyond the borders are mirrored; a single one stands for both.
    const int32 reach = is_missing && last > 0 ? 1 : 0;
    const uint8* at = row + x;
    const uint8* left = at + (x > 0 ? -reach : reach);
    const uint8* right = at + (x < last ? reach : -reach);
    if (!is_green) return (left[above] + right[above] + left[below] + right[below] + 2) >> 2;
    return (*left + *right + at[is_missing ? above : 0] + at[is_missing ? below : 0] + 2) >> 2;
  }
};
/// The samples of a mosaic's colour: PART 0 is red, 1 green, 2 blue.
struct MosaicReader {
  static constexpr int32 kTapsAtOnce = 1;  // the registers of this path are those of the kernel for all formats
  const FrameJob& job;
  int32 part;

  __device__ __forceinline__ MosaicLine row(int32 y) const {
    const JobMosaic& mosaic = job.mosaic;
    const bool is_green = part == 1;
    const int32 is_blue = part >> 1;
    const int32 odd = (y ^ mosaic.red_y) & 1;
    const int32 pitch = job.parts[0].pitch;
    const int32 reach = mosaic.height > 1 && (is_green || odd != is_blue) ? pitch : 0;
    return {job.parts[0].data + static_cast<int64>(y) * pitch,
            y > 0 ? -reach : reach,
            y + 1 < mosaic.height ? reach : -reach,
            mosaic.width - 1,
            mosaic.red_x ^ (is_green ? odd ^ 1 : is_blue),
            is_green};
  }
};
