#pragma once

#include "elements.cuh"

// Interpolated reads: GridSample and RoiAlign.

enum class GridMode { kNearest, kLinear, kCubic };
enum class GridPadding { kZeros, kBorder, kReflection };

/// Taps of one coordinate along an axis. Loops over them must be unrolled, so that they stay in registers.
template <GridMode kMode, typename Number>
struct GridTaps {
  static constexpr int kCount = kMode == GridMode::kNearest ? 1 : kMode == GridMode::kLinear ? 2 : 4;
  int32 index[kCount];  ///< negative: outside, not read
  Number weight[kCount];
};

/// Reflects X into LOW..HIGH.
__device__ __forceinline__ double reflected(double x, double low, double high) {
  const double range = high - low;
  if (range <= 0) return low;
  const double way = fmod(fabs(x - low), 2 * range);
  return low + (way <= range ? way : 2 * range - way);
}

template <GridPadding kPadding, bool kAlign, int kLength>
__device__ __forceinline__ double brought_inside(double x) {
  constexpr double kLast = kLength - 1;
  if (kPadding == GridPadding::kBorder) return x < 0 ? 0 : x > kLast ? kLast : x;
  if (kPadding == GridPadding::kZeros) return x;
  return kAlign ? reflected(x, 0, kLast) : reflected(x, -0.5, kLast + 0.5);
}

/// Cubic convolution kernel with a = -0.75.
template <typename Number>
__device__ __forceinline__ Number cubic_weight(Number distance) {
  const Number a = Number(-0.75);
  const Number d = fabs(distance);
  return d <= 1 ? ((a + 2) * d - (a + 3)) * d * d + 1 : ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
}

template <GridMode kMode, GridPadding kPadding, bool kAlign, int kLength, typename Number>
__device__ __forceinline__ GridTaps<kMode, Number> grid_taps(Number coordinate) {
  const Number length = kLength;
  Number x = kAlign ? (coordinate + 1) / 2 * (length - 1) : ((coordinate + 1) * length - 1) / 2;
  // Clamped to three pixels outside, where no tap is inside; also for NaN.
  if (!(x > Number(-1e9))) x = Number(-1e9);
  if (kPadding == GridPadding::kReflection)
    x = Number(brought_inside<kPadding, kAlign, kLength>(x < Number(1e9) ? x : Number(1e9)));
  else
    x = clamp(x, Number(-3), length + 2);
  GridTaps<kMode, Number> taps;
  const auto set = [&](int i, Number position, Number weight) {
    const int32 inside = int32(rint(brought_inside<kPadding, kAlign, kLength>(double(position))));
    const bool outside = kPadding == GridPadding::kZeros && (inside < 0 || inside >= kLength);
    taps.index[i] = outside ? -1 : clamp(inside, 0, kLength - 1);
    taps.weight[i] = weight;
  };
  if constexpr (kMode == GridMode::kNearest) {
    set(0, rint(x), Number(1));
  } else if constexpr (kMode == GridMode::kLinear) {
    const Number first = floor(x);
    set(0, first, 1 - (x - first));
    set(1, first + 1, x - first);
  } else {
    const Number first = floor(x) - 1;
#pragma unroll
    for (int i = 0; i < 4; ++i) set(i, first + Number(i), cubic_weight(x - first - Number(i)));
  }
  return taps;
}

/// A region of interest along one axis, as ops/sampling/regions.hpp computes it: bin start, bin size and samples per bin.
struct RegionSide {
  float start;
  float bin;
  int32 samples;

  __device__ __forceinline__ float sample(int32 index, int32 i) const {
    return start + float(index) * bin + (float(i) + 0.5f) * bin / float(samples);
  }
};
template <bool kHalfPixel, int kSamples, int kMaxSamples>
__device__ __forceinline__ RegionSide region_side(float from, float to, float scale, int32 bins) {
  from *= scale;
  to *= scale;
  RegionSide side;
  side.start = from - (kHalfPixel ? 0.5f : 0.0f);
  const float extent = to - from;
  side.bin = (kHalfPixel || extent > 1.0f ? extent : 1.0f) / float(bins);
  side.samples = kSamples;
  if (kSamples == 0) {
    const float wanted = ceil(side.bin);
    side.samples = !(wanted > 0) ? 0 : wanted > float(kMaxSamples) ? kMaxSamples : int32(wanted);
  }
  return side;
}

/// Linear interpolation of a sample: two elements and the weight of the second.
struct Between {
  int32 low = 0;
  int32 high = 0;
  float weight = 0;
  bool outside = true;

  __device__ __forceinline__ Between(float at, int32 length) {
    if (!(at >= -1 && at <= float(length)) || length == 0) return;
    outside = false;
    at = at > 0 ? at : 0;
    low = min_nan(int32(at), length - 1);
    high = min_nan(low + 1, length - 1);
    if (high > low) weight = at - float(low);
  }
};

/// Average of a bin's samples, or the maximum of their weighted corners. ELEMENT(row, column) reads the feature map.
template <bool kLargest, int kHeight, int kWidth, typename Element>
__device__ __forceinline__ float align_bin(const RegionSide& rows, const RegionSide& columns, int32 y, int32 x,
                                           const Element& element) {
  float sum = 0;
  float best = 0;
  bool any = false;
  for (int32 i = 0; i < rows.samples; ++i) {
    const Between v(rows.sample(y, i), kHeight);
    if (v.outside) {
      best = any ? max_nan(best, 0.0f) : 0.0f;
      any = true;
      continue;
    }
    for (int32 k = 0; k < columns.samples; ++k) {
      const Between h(columns.sample(x, k), kWidth);
      float top = 0;
      if (!h.outside) {
        const float a = (1 - v.weight) * (1 - h.weight) * element(v.low, h.low);
        const float b = (1 - v.weight) * h.weight * element(v.low, h.high);
        const float c = v.weight * (1 - h.weight) * element(v.high, h.low);
        const float d = v.weight * h.weight * element(v.high, h.high);
        sum += a + b + c + d;
        top = max_nan(max_nan(a, b), max_nan(c, d));
      }
      best = any ? max_nan(best, top) : top;
      any = true;
    }
  }
  if (kLargest) return best;
  const int32 samples = rows.samples * columns.samples;
  return sum / float(samples > 0 ? samples : 1);
}
