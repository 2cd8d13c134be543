#pragma once

#include "launch.cuh"
#include "launch_sizes.hpp"
#include "memory_layouts.hpp"
#include "mosaic.cuh"
#include "types.cuh"

// saccade.Preprocess with the fixed-point arithmetic of ops/vision/pixels.hpp: resize, colour conversion and
// normalization, bit-identical to the reference.

/// Two adjacent samples and the weight of the second, of 2048.
struct Tap {
  int32 first, second, weight;
};
/// Taps of a block's pixels: columns, then rows.
struct TileTaps {
  Tap across[2][kTileWidth];
  Tap down[2][kTileHeight];
};

__device__ __forceinline__ Tap tap_at(const JobAxis& axis, int32 position) {
  const double centre = __dadd_rn(__dadd_rn(position, -axis.first), 0.5);
  const double place = __dadd_rn(__dadd_rn(__dmul_rn(centre, axis.scale), axis.offset), -0.5);
  const float sample = __double2float_rn(place);
  const int32 last = axis.end - axis.begin - 1;
  float below = floorf(sample);
  float part = __fsub_rn(sample, below);
  if (below < 0.0f) below = part = 0.0f;
  if (below >= static_cast<float>(last)) {
    below = static_cast<float>(last);
    part = 0.0f;
  }
  const int32 lower = static_cast<int32>(below);
  const int32 upper = lower < last ? lower + 1 : last;
  return {axis.begin + lower, axis.begin + upper, __float2int_rn(__fmul_rn(part, 2048.0f))};
}

/// Called by all threads of the block.
__device__ __forceinline__ void load_taps(const FrameJob& job, TileTaps& taps) {
  constexpr int32 kColumns = 2 * kTileWidth;
  const int32 i = threadIdx.y * kTileWidth + threadIdx.x;
  if (i < kColumns) {
    taps.across[i / kTileWidth][i % kTileWidth] =
        tap_at(job.across[i / kTileWidth], blockIdx.x * kTileWidth + i % kTileWidth);
  } else if (i < kColumns + 2 * kTileHeight) {
    const int32 k = i - kColumns;
    taps.down[k / kTileHeight][k % kTileHeight] =
        tap_at(job.down[k / kTileHeight], blockIdx.y * kTileHeight + k % kTileHeight);
  }
  __syncthreads();
}

__device__ __forceinline__ int32 blend_row(int32 first, int32 second, const Tap& tap) {
  return (first * (2048 - tap.weight) + second * tap.weight) >> 4;
}
__device__ __forceinline__ int32 blend_row(const uint8* line, int32 step, const Tap& tap) {
  return blend_row(line[static_cast<int64>(tap.first) * step], line[static_cast<int64>(tap.second) * step], tap);
}
__device__ __forceinline__ int32 blend_rows(int32 upper, int32 lower, const Tap& tap) {
  return ((((2048 - tap.weight) * upper) >> 16) + ((tap.weight * lower) >> 16) + 2) >> 2;
}
__device__ __forceinline__ int32 sample(const JobComponent& part, const Tap& across, const Tap& down) {
  const int32 upper = blend_row(part.data + static_cast<int64>(down.first) * part.pitch, part.step, across);
  const int32 lower = blend_row(part.data + static_cast<int64>(down.second) * part.pitch, part.step, across);
  return blend_rows(upper, lower, down);
}
/// The colours of a mosaic, which are blended as those of other frames.
__device__ __forceinline__ Rgb mosaic_sample(const FrameJob& job, const Tap& across, const Tap& down) {
  const auto row = [&](int32 y) {
    const Rgb first = mosaic_color(job, across.first, y);
    const Rgb second = mosaic_color(job, across.second, y);
    return Rgb{blend_row(first.red, second.red, across), blend_row(first.green, second.green, across),
               blend_row(first.blue, second.blue, across)};
  };
  const Rgb upper = row(down.first);
  const Rgb lower = row(down.second);
  return {blend_rows(upper.red, lower.red, down), blend_rows(upper.green, lower.green, down),
          blend_rows(upper.blue, lower.blue, down)};
}
__device__ __forceinline__ int32 clamp8(int32 value) {
  const int32 rounded = (value + 32768) >> 16;
  return rounded < 0 ? 0 : rounded > 255 ? 255 : rounded;
}

/// FilterArithmetic, as constants of the kernel.
template <int32 kAcrossShift, int32 kDownShift, int32 kLow, int32 kHigh>
struct Arithmetic {
  static __device__ __forceinline__ int32 limited(int32 sum, int32 shift, int32 low, int32 high) {
    const int32 value = (sum + ((1 << shift) >> 1)) >> shift;
    return value < low ? low : value > high ? high : value;
  }
  static __device__ __forceinline__ int32 after_across(int32 sum) { return limited(sum, kAcrossShift, kLow, kHigh); }
  static __device__ __forceinline__ int32 after_down(int32 sum) { return limited(sum, kDownShift, 0, 255); }
};

/// A component at X, Y of the part of the tensor that the frame covers, by tables.
template <typename Arithmetic>
__device__ __forceinline__ int32 filtered(const JobComponent& part, const JobTable& across, const JobTable& down,
                                          int32 x, int32 y) {
  const int32* weights = across.weights + static_cast<int64>(x) * across.stride;
  const int32* row_weights = down.weights + static_cast<int64>(y) * down.stride;
  const uint8* line = part.data + static_cast<int64>(down.begin + down.first[y]) * part.pitch +
                      static_cast<int64>(across.begin + across.first[x]) * part.step;
  int32 sum = 0;
  for (int32 k = 0; k < down.taps; ++k) {
    int32 along = 0;
    for (int32 i = 0; i < across.taps; ++i) along += line[static_cast<int64>(i) * part.step] * weights[i];
    sum += Arithmetic::after_across(along) * row_weights[k];
    line += part.pitch;
  }
  return Arithmetic::after_down(sum);
}

/// The colours of a mosaic at X, Y of the part of the tensor that the frame covers, by tables.
template <typename Arithmetic>
__device__ __forceinline__ Rgb filtered_mosaic(const FrameJob& job, int32 x, int32 y) {
  const JobTable& across = job.across_table[0];
  const JobTable& down = job.down_table[0];
  const int32* weights = across.weights + static_cast<int64>(x) * across.stride;
  const int32* row_weights = down.weights + static_cast<int64>(y) * down.stride;
  const int32 column = across.begin + across.first[x];
  const int32 row = down.begin + down.first[y];
  const auto add = [](Rgb& sum, const Rgb& color, int32 weight) {
    sum = {sum.red + color.red * weight, sum.green + color.green * weight, sum.blue + color.blue * weight};
  };
  Rgb sum = {0, 0, 0};
  for (int32 k = 0; k < down.taps; ++k) {
    Rgb along = {0, 0, 0};
    for (int32 i = 0; i < across.taps; ++i) add(along, mosaic_color(job, column + i, row + k), weights[i]);
    along = {Arithmetic::after_across(along.red), Arithmetic::after_across(along.green),
             Arithmetic::after_across(along.blue)};
    add(sum, along, row_weights[k]);
  }
  return {Arithmetic::after_down(sum.red), Arithmetic::after_down(sum.green), Arithmetic::after_down(sum.blue)};
}

/// RGB of a pixel whose components are VALUE(0) to VALUE(2).
template <typename Value>
__device__ __forceinline__ Rgb color_from(const FrameJob& job, const Value& value) {
  const int32 first = value(0);
  if (job.model == kRgbModel) return {first, value(1), value(2)};
  if (job.model != kYuvModel) return {first, first, first};
  const int32 luma = job.luma * (first - job.black);
  const int32 u = value(1) - 128;
  const int32 v = value(2) - 128;
  return {clamp8(luma + job.red_v * v), clamp8(luma + job.green_u * u + job.green_v * v),
          clamp8(luma + job.blue_u * u)};
}
/// RGB of this thread's pixel, by bilinear interpolation.
__device__ __forceinline__ Rgb color_of(const FrameJob& job, const TileTaps& taps) {
  if (job.model == kMosaicModel)
    return mosaic_sample(job, taps.across[0][threadIdx.x], taps.down[0][threadIdx.y]);
  return color_from(job, [&](int32 part) {
    const int32 table = part == 0 ? 0 : 1;
    return sample(job.parts[part], taps.across[table][threadIdx.x], taps.down[table][threadIdx.y]);
  });
}
/// RGB of the pixel X, Y of the part of the tensor that the frame covers, by tables.
template <typename Arithmetic>
__device__ __forceinline__ Rgb filtered_color(const FrameJob& job, int32 x, int32 y) {
  if (job.model == kMosaicModel) return filtered_mosaic<Arithmetic>(job, x, y);
  return color_from(job, [&](int32 part) {
    const int32 table = part == 0 ? 0 : 1;
    return filtered<Arithmetic>(job.parts[part], job.across_table[table], job.down_table[table], x, y);
  });
}
/// Luma for single-channel tensors.
__device__ __forceinline__ int32 luma_of(const FrameJob& job, const Rgb& color) {
  if (job.model == kGrayModel) return color.red;
  return (color.red * 4899 + color.green * 9617 + color.blue * 1868 + 8192) >> 14;
}
__device__ __forceinline__ float scaled(int32 value, float scale, float bias) {
  return __fadd_rn(__fmul_rn(static_cast<float>(value), scale), bias);
}
