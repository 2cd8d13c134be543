#pragma once

#include "memory_layouts.hpp"
#include "types.cuh"

// The colours of Bayer mosaics, as tensor/mosaic.hpp defines them.

struct Rgb {
  int32 red, green, blue;
};

__device__ __forceinline__ int32 mirrored(int32 index, int32 count) {
  if (count == 1) return 0;
  if (index < 0) return -index;
  return index < count ? index : 2 * (count - 1) - index;
}

/// The pixel X, Y. All nine samples are loaded, for the colours of neighbouring threads differ.
__device__ __forceinline__ Rgb mosaic_color(const FrameJob& job, int32 x, int32 y) {
  const JobMosaic& mosaic = job.mosaic;
  const auto line = [&](int32 row) { return job.parts[0].data + static_cast<int64>(row) * job.parts[0].pitch; };
  const uint8* above = line(mirrored(y - 1, mosaic.height));
  const uint8* row = line(y);
  const uint8* below = line(mirrored(y + 1, mosaic.height));
  const int32 left = mirrored(x - 1, mosaic.width);
  const int32 right = mirrored(x + 1, mosaic.width);
  const int32 here = row[x];
  const int32 beside = row[left] + row[right];
  const int32 upright = above[x] + below[x];
  const int32 corners = above[left] + above[right] + below[left] + below[right];
  const bool is_red = ((y ^ mosaic.red_y) & 1) == 0;
  const bool is_own = ((x ^ mosaic.red_x ^ y ^ mosaic.red_y) & 1) == 0;
  const int32 own = is_own ? here : (beside + 1) >> 1;
  const int32 green = is_own ? (beside + upright + 2) >> 2 : here;
  const int32 other = is_own ? (corners + 2) >> 2 : (upright + 1) >> 1;
  return {is_red ? own : other, green, is_red ? other : own};
}
