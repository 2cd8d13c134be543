#pragma once

#include "elements.cuh"

/// RATIO rounded to nearest even, plus the zero point, clamped to LOWEST..HIGHEST; NaN becomes LOWEST.
__device__ __forceinline__ int32 quantized(float ratio, int32 zero_point, float lowest, float highest) {
  const float moved = rint(ratio) + float(zero_point);
  if (!(moved > lowest)) return int32(lowest);
  return moved < highest ? int32(moved) : int32(highest);
}
