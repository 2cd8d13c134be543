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

/// The samples of a component: the one at X, Y is row(Y)(X), as of a MosaicReader.
struct PartReader {
  struct Line {
    const uint8* data;
    int32 step;
    __device__ __forceinline__ int32 operator()(int32 x) const { return data[static_cast<int64>(x) * step]; }
  };
  static constexpr int32 kTapsAtOnce = 4;
  const JobComponent& part;
  __device__ __forceinline__ Line row(int32 y) const {
    return {part.data + static_cast<int64>(y) * part.pitch, part.step};
  }
};
template <typename Line>
__device__ __forceinline__ int32 blend_row(const Line& line, const Tap& tap) {
  return (line(tap.first) * (2048 - tap.weight) + line(tap.second) * tap.weight) >> 4;
}
template <typename Reader>
__device__ __forceinline__ int32 sample(const Reader& reader, const Tap& across, const Tap& down) {
  const int32 upper = blend_row(reader.row(down.first), across);
  const int32 lower = blend_row(reader.row(down.second), across);
  return ((((2048 - down.weight) * upper) >> 16) + ((down.weight * lower) >> 16) + 2) >> 2;
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
template <typename Arithmetic, typename Reader>
__device__ __forceinline__ int32 filtered(const Reader& reader, const JobTable& across, const JobTable& down, int32 x,
                                          int32 y) {
  const int32* weights = across.weights + static_cast<int64>(x) * across.taps;
  const int32* row_weights = down.weights + static_cast<int64>(y) * down.taps;
  const int32 column = across.begin + across.first[x];
  const int32 row = down.begin + down.first[y];
  int32 sum = 0;
  for (int32 k = 0; k < down.taps; ++k) {
    const auto line = reader.row(row + k);
    int32 along = 0;
#pragma unroll Reader::kTapsAtOnce
    for (int32 i = 0; i < across.taps; ++i) along += line(column + i) * weights[i];
    sum += Arithmetic::after_across(along) * row_weights[k];
  }
  return Arithmetic::after_down(sum);
}

struct Rgb {
  int32 red, green, blue;
};
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
/// RGB of a mosaic's pixel. One colour after the other, so that the kernel needs few registers for all formats.
template <typename Value>
__device__ __forceinline__ Rgb mosaic_color_from(const Value& value) {
  Rgb color = {0, 0, 0};
#pragma unroll 1
  for (int32 part = 0; part < 3; ++part) color = {color.green, color.blue, value(part)};
  return color;
}
/// RGB of this thread's pixel, by bilinear interpolation.
__device__ __forceinline__ Rgb color_of(const FrameJob& job, const TileTaps& taps) {
  if (job.model == kMosaicModel)
    return mosaic_color_from([&](int32 part) {
      return sample(MosaicReader{job, part}, taps.across[0][threadIdx.x], taps.down[0][threadIdx.y]);
    });
  return color_from(job, [&](int32 part) {
    const int32 table = part == 0 ? 0 : 1;
    return sample(PartReader{job.parts[part]}, taps.across[table][threadIdx.x], taps.down[table][threadIdx.y]);
  });
}
/// RGB of the pixel X, Y of the part of the tensor that the frame covers, by tables.
template <typename Arithmetic>
__device__ __forceinline__ Rgb filtered_color(const FrameJob& job, int32 x, int32 y) {
  if (job.model == kMosaicModel)
    return mosaic_color_from([&](int32 part) {
      return filtered<Arithmetic>(MosaicReader{job, part}, job.across_table[0], job.down_table[0], x, y);
    });
  return color_from(job, [&](int32 part) {
    const int32 table = part == 0 ? 0 : 1;
    return filtered<Arithmetic>(PartReader{job.parts[part]}, job.across_table[table], job.down_table[table], x, y);
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
